import * as z from 'zod/mini'
import { parseAmountsAsText } from '../../worker/common/amount.ts'
import type { Reason } from '../../worker/common/reasons.ts'
import { readBytes } from '../../worker/platform/read-bytes.ts'
import { plainText } from '../node-replies.ts'
import { ToolError } from '../tool-error.ts'

const timeoutMs = 30_000
const replyBytesMax = 1024 * 1024

const text = z.pipe(z.string(), z.transform(plainText))
const shown = z.object({
  id: z.int(),
  uid: z.int(),
  cuy: z.int(),
  state: text,
  amt: text,
  to: z.optional(text),
  address: z.optional(text),
  osn: z.optional(text),
  txid: z.optional(text),
  reason: z.optional(z.nullable(text)),
  approved_by: z.optional(z.nullable(text)),
  attempts: z.optional(z.int()),
})
/** A payout or a deposit, as the service shows it. */
export type ShownItem = z.infer<typeof shown>

const answer = z.object({ list: z.array(shown) })

/** The remedies for refusals, by reason or status. */
const advice = {
  'stuck-since':
    'look why at the desk; to approve it once more, run it again with --attempts and the number that it has now',
  'money-moved': 'find out what has left and decide who pays for it, then run it again with --moved',
  '401': 'give the secret of this service (--secret), and its BACKEND_ISSUER and BACKEND_AUDIENCE, if it has them',
  '403': 'let another name do it (--name), a person of another name',
  '404': 'look at what waits: the desk lists it, or the service has no payouts',
} satisfies Readonly<Partial<Record<Reason | '401' | '403' | '404', string>>>

/** The service's answer: its data, or why it refuses. */
export type ServiceAnswer =
  | { readonly ok: true; readonly data: unknown }
  | { readonly ok: false; readonly status: number; readonly why: string; readonly reason: string }

/**
 * Sends a request with a token, and returns the answer. Throws a `ToolError` if the service does
 * not answer.
 */
export async function ask(url: string, token: string, body: object): Promise<ServiceAnswer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(timeoutMs)
  const options = { method: 'POST', headers, body: JSON.stringify(body), redirect: 'error', signal } as const
  const response = await fetch(url, options).catch(
    (thrown: Error & { readonly cause?: { readonly code?: string } }) => {
      const why = `the service cannot be reached: ${thrown.cause?.code ?? thrown.message}`
      throw new ToolError(why, 'start it, or name another one with --service; what was done once is not done again')
    },
  )
  return readAnswer(response)
}

/** Reads the service's answer from a response. */
export async function readAnswer(response: Response): Promise<ServiceAnswer> {
  const { msg, data } = await readEnvelope(response)
  if (response.ok && data !== undefined) return { ok: true, data }
  const why = typeof msg === 'string' ? plainText(msg) : 'no answer of this service'
  return { ok: false, status: response.status, why, reason: response.headers.get('x-reason') ?? '' }
}

/**
 * Sends a request with a token. Returns the payouts or deposits that it was about, as they are now.
 * Throws a `ToolError` if the service refuses it or does not answer.
 */
export async function post(url: string, token: string, body: object): Promise<readonly ShownItem[]> {
  const answered = await ask(url, token, body)
  const read = answered.ok ? answer.safeParse(answered.data) : null
  if (read?.success) return read.data.list
  const { status, why, reason } = answered.ok ? { status: 200, why: 'no answer of this service', reason: '' } : answered
  const advised: Readonly<Record<string, string>> = advice
  const next = advised[reason] ?? advised[status] ?? 'nothing was done: correct what the sentence says'
  throw new ToolError(`${status}: ${why}`, next)
}

async function readEnvelope(response: Response): Promise<{ readonly msg?: unknown; readonly data?: unknown }> {
  try {
    const bytes = await readBytes(response.body, replyBytesMax)
    return Object(parseAmountsAsText(new TextDecoder().decode(bytes ?? new Uint8Array())))
  } catch {
    return {}
  }
}
