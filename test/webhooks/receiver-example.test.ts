import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { isDelivered, sendWebhook } from '../../src/worker/webhooks/deliver-events.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { firstSecret, secondSecret } from './harness.ts'
import { receive } from './receiver-example.ts'

const clock = createVirtualClock(Date.now()) // the receiver checks timestamps against the machine's clock

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const send = async (url: string, id: number, secret = firstSecret) => {
  const message = { id: `evt_${id}`, body: JSON.stringify({ id, type: 'deposit.credited' }) }
  return isDelivered(await sendWebhook({ fetch, clock }, { url, secrets: [secret] }, message))
}

it('the receiver of the guide verifies events and handles each once', async () => {
  const handled: unknown[] = []
  const url = await listen(
    receive(firstSecret, async (event) => {
      handled.push(event)
    }),
  )
  expect([await send(url, 1), await send(url, 1), await send(url, 2)]).toEqual([true, true, true])
  expect(handled).toEqual([1, 2].map((id) => ({ id, type: 'deposit.credited' })))
  expect(await send(url, 3, secondSecret)).toBe(false)
  expect(handled).toHaveLength(2)
})

it('the receiver of the guide gets an event again that it could not handle', async () => {
  let tries = 0
  const url = await listen(
    receive(firstSecret, async () => {
      tries += 1
      if (tries === 1) throw new Error('the database is away')
    }),
  )
  expect([await send(url, 1), await send(url, 1), await send(url, 1)]).toEqual([false, true, true])
  expect(tries).toBe(2)
})

it('the receiver of the guide keeps every digit of an amount', async () => {
  const handled: unknown[] = []
  const url = await listen(
    receive(firstSecret, async (event) => {
      handled.push(event)
    }),
  )
  const entry = '{"id":1,"amt":-9007199254.740991,"balance":0.000001,"mark":"amt"}'
  const body = `{"id":1,"type":"entry.posted","data":{"entry":${entry},"amt":25}}`
  expect(await sendWebhook({ fetch, clock }, { url, secrets: [firstSecret] }, { id: 'evt_1', body })).toBe(204)
  const exact = { id: 1, amt: '-9007199254.740991', balance: '0.000001', mark: 'amt' }
  expect(handled).toEqual([{ id: 1, type: 'entry.posted', data: { entry: exact, amt: '25' } }])
})
