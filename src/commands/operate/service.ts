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

/**
 * Sends a request with a token. Returns the payouts or deposits that it was about, as they are now.
 * Throws a `ToolError` if the service refuses it or does not answer.
 */
export async function post(url: string, token: string, body: object): Promise<readonly ShownItem[]> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(timeoutMs)
  const options = { method: 'POST', headers, body: JSON.stringify(body), redirect: 'error', signal } as const
  const response = await fetch(url, options).catch(
    (thrown: Error & { readonly cause?: { readonly code?: string } }) => {
      const why = `the service cannot be reached: ${thrown.cause?.code ?? thrown.message}`
      throw new ToolError(why, 'start it, or name another one with --service; what was done once is not done again')
    },
  )
  const envelope = await readEnvelope(response)
  const read = answer.safeParse(envelope.data)
  if (response.ok && read.success) return read.data.list
  const why = typeof envelope.msg === 'string' ? plainText(envelope.msg) : 'no answer of this service'
  const reason = response.headers.get('x-reason') ?? ''
  const advised: Readonly<Record<string, string>> = advice
  const next = advised[reason] ?? advised[response.status] ?? 'nothing was done: correct what the sentence says'
  throw new ToolError(`${response.status}: ${why}`, next)
}

async function readEnvelope(response: Response): Promise<{ readonly msg?: unknown; readonly data?: unknown }> {
  try {
    const bytes = await readBytes(response.body, replyBytesMax)
    return Object(parseAmountsAsText(new TextDecoder().decode(bytes ?? new Uint8Array())))
  } catch {
    return {}
  }
}
