import { Webhook } from 'standardwebhooks'
import type { Clock } from '../platform/clock.ts'
import type { WebhookEndpoint } from './endpoint.ts'

/** How long an endpoint has for its answer, in milliseconds. */
export const answerMs = 10_000

/** What sending needs. */
export interface SendParts {
  readonly fetch: typeof fetch
  readonly clock: Pick<Clock, 'now' | 'sleep'>
}

/** What is sent. `id` is the same in each delivery of an event. */
export interface WebhookMessage {
  readonly id: string
  readonly body: string
}

/** The answer of an endpoint: its status, or why there is none. */
export type EndpointAnswer = number | 'no-answer-in-time' | 'unreachable'

/** Whether the endpoint has got the message. A redirect is a failure: another host could receive what was sent. */
export function isDelivered(answer: EndpointAnswer): boolean {
  return typeof answer === 'number' && answer >= 200 && answer <= 299
}

/**
 * Sends a message signed as Standard Webhooks require, with each secret of the endpoint. It never throws. The request
 * is ended after `answerMs`.
 */
export async function sendWebhook(
  { fetch, clock }: SendParts,
  { url, secrets }: Pick<WebhookEndpoint, 'url' | 'secrets'>,
  { id, body }: WebhookMessage,
): Promise<EndpointAnswer> {
  const now = clock.now()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(now), body)).join(' '),
  }
  const abort = new AbortController()
  const answer = post(fetch, url, { method: 'POST', headers, body, redirect: 'manual', signal: abort.signal })
  const first = await Promise.race([answer, clock.sleep(answerMs).then(() => 'no-answer-in-time' as const)])
  abort.abort() // no-op where there is an answer
  return first
}

async function post(send: typeof fetch, url: string, init: RequestInit): Promise<EndpointAnswer> {
  try {
    const response = await send(url, init)
    await response.body?.cancel()
    return response.status
  } catch {
    return 'unreachable'
  }
}
