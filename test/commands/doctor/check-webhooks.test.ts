import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { checkWebhooks, lineOf } from '../../../src/commands/doctor/check-settings.ts'
import type { EndpointKey } from '../../../src/worker/common/ids.ts'
import type { WebhookEndpoint } from '../../../src/worker/webhooks/store/endpoint-state.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { firstSecret } from '../../webhooks/harness.ts'
import { type Receiver, startReceiver, status } from '../../webhooks/receiver.ts'

const platform = {
  fetch,
  // starts at the machine's time, because receivers compare timestamps with the machine's clock
  clock: createVirtualClock(Date.now()),
}

const endpointOf = ({ url }: Receiver, i: number): WebhookEndpoint => {
  // safe: 64 hex digits
  return { key: 'e'.repeat(64) as EndpointKey, number: i + 1, url, secrets: [firstSecret], types: null }
}

async function linesOf(receivers: readonly Receiver[], sendsTests: boolean): Promise<string[]> {
  const lines: string[] = []
  for await (const result of checkWebhooks(receivers.map(endpointOf), platform, sendsTests)) lines.push(lineOf(result))
  return lines
}

it('the doctor sends nothing to endpoints unless it is asked to', async () => {
  const receiver = await startReceiver()
  const { host } = new URL(receiver.url)
  expect(await linesOf([receiver], false)).toEqual([
    `ok    webhook endpoint 1 (${host}): configured; --webhooks sends it a test event`,
  ])
  expect(receiver.requests).toEqual([])
})

it('the doctor sends a signed test event on request and reports each answer, without the path of a URL', async () => {
  const receivers = [await startReceiver(), await startReceiver(status(401)), await startReceiver()]
  await receivers[2]?.close()
  const hosts = receivers.map(({ url }) => new URL(url).host)
  const lines = await linesOf(receivers, true)
  expect(lines).toEqual([
    `ok    webhook endpoint 1 (${hosts[0]}): answered a test event with 204`,
    `FAIL  webhook endpoint 2 (${hosts[1]}): answered a test event with 401`,
    `FAIL  webhook endpoint 3 (${hosts[2]}): a test event: unreachable`,
  ])
  expect(lines.join()).not.toContain('secret-path')
  const [request] = receivers[0]?.requests ?? []
  expect(new Webhook(firstSecret).verify(request?.body ?? '', request?.headers ?? {})).toMatchObject({
    id: 0,
    type: 'test',
  })
})
