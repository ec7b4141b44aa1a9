import { isDelivered, type SendParts, sendWebhook } from '../../webhooks/deliver-event.ts'
import type { WebhookEndpoint } from '../../webhooks/endpoint.ts'
import { type CheckResult, failed, hostInUrl, passed } from './check-result.ts'

/** The body of a test event. It has the form of an event, a number that none has, and a type of its own. */
const testBody = (createdAt: string) => JSON.stringify({ id: 0, type: 'test', uid: 0, created_at: createdAt, data: {} })

/** The endpoints; where `sendsTests`, with the answer of each to a signed test event. */
export async function* checkWebhooks(
  endpoints: readonly WebhookEndpoint[],
  platform: SendParts,
  sendsTests: boolean,
): AsyncGenerator<CheckResult, void> {
  for (const endpoint of endpoints) {
    const name = `webhook endpoint ${endpoint.number} (${hostInUrl(endpoint.url)})`
    if (!sendsTests) {
      yield passed(`${name}: configured; --webhooks sends it a test event`)
      continue
    }
    const createdAt = new Date(platform.clock.now()).toISOString()
    const answer = await sendWebhook(platform, endpoint, {
      id: `evt_0_${platform.clock.now()}`,
      body: testBody(createdAt),
    })
    const text = typeof answer === 'number' ? `answered a test event with ${answer}` : `a test event: ${answer}`
    yield isDelivered(answer) ? passed(`${name}: ${text}`) : failed(`${name}: ${text}`)
  }
}
