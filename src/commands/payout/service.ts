import * as z from 'zod/mini'
import { parseAmountsAsText } from '../../worker/common/amount.ts'
import { err, ok, type Result } from '../../worker/common/result.ts'
import type { UnixMs } from '../../worker/common/time.ts'
import { readBytes } from '../../worker/platform/read-bytes.ts'
import { plainText } from '../node-replies.ts'
import { type PlaceRef, pathIn } from '../place.ts'
import { restoreMs } from './compare.ts'
import { naturalNumber, offerSchema, type ShownOffer, type ShownPayout, shownPayout, txidText } from './payout.ts'
import type { SignerTokens } from './token.ts'

/** The reason that the service gives if all payouts are stopped. */
export const stoppedReason = 'payouts-stopped'
/** Most payouts in one answer. */
export const pageMax = 100
const timeoutMs = 15_000
const replyBytesMax = 8 * 1024 * 1024
/** Most transactions in one request. */
export const batchMax = 20

/**
 * Why the service gave no useful answer. `status` is 0 if there was no response; `reason` is its
 * code for programs, or ''.
 */
export interface ServiceRefusal {
  readonly status: number
  readonly reason: string
  readonly why: string
}

/** A transaction to hand in. */
export interface Signed {
  readonly id: number
  readonly transaction: string
}

const text = z.pipe(z.string(), z.transform(plainText))
const listOf = <T>(item: z.ZodMiniType<T>) => z.object({ list: z.array(item) })
const refusalSchema = z.object({ code: z.int(), reason: z.optional(text), why: text })
const outcomeSchema = z.object({
  id: naturalNumber,
  state: z.optional(text),
  txid: z.optional(txidText),
  refused: z.optional(refusalSchema),
})
/** The service's answer about one transaction. */
export type Outcome = z.infer<typeof outcomeSchema>

/** An answer of the service, or why there is none. */
type Answer<T> = Promise<Result<T, ServiceRefusal>>

/** The routes of the service that a signer uses. None of them throws: failures are values. */
export interface PayoutService {
  /** Reads the offer for signing with ids above `after`: at most `pageMax` payouts. */
  offer(after: number): Answer<ShownOffer>
  /** Reads the payouts of the last 31 days, newest first. */
  known(now: UnixMs): Answer<readonly ShownPayout[]>
  /** Hands in at most `batchMax` transactions. The outcomes are in the order of `signed`. */
  handIn(signed: readonly Signed[]): Answer<readonly Outcome[]>
}

/**
 * Opens the service at the URL `base`, without a request. `place` names one of its cells, if there
 * are several.
 */
export function openService(
  base: string,
  token: SignerTokens,
  fetch: typeof globalThis.fetch,
  place: Pick<PlaceRef, 'cell'> = { cell: null },
): PayoutService {
  const request = async <T>(schema: z.ZodMiniType<T>, path: string, body?: object): Answer<T> => {
    try {
      const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' }
      const options = { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) } as const
      const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const answer = await readAnswer(await fetch(base + pathIn(place, path), { ...options, ...posted }))
      if (!answer.ok) return answer
      const data = schema.safeParse(answer.value)
      return data.success ? ok(data.data) : err(unknownAnswer)
    } catch (error) {
      // `fetch` throws only errors
      const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
      return err({ status: 0, reason: '', why: `the service cannot be reached: ${cause?.code ?? message}` })
    }
  }
  return {
    offer: (after) => request(offerSchema, `/ledger/payouts/unsigned${after === 0 ? '' : `?after=${after}`}`),
    async known(now) {
      const known: ShownPayout[] = []
      for (let before = ''; ; before = `&before=${known.at(-1)?.id}`) {
        const page = await request(listOf(shownPayout), `/ledger/payouts?limit=${pageMax}${before}`)
        if (!page.ok) return page
        known.push(...page.value.list)
        const oldest = Date.parse(known.at(-1)?.created_at ?? '')
        if (page.value.list.length < pageMax || oldest < now - restoreMs) return ok(known)
      }
    },
    async handIn(signed) {
      const answer = await request(listOf(outcomeSchema), '/ledger/payouts/signed', { signed })
      if (!answer.ok) return answer
      const isWhole = signed.every(({ id }, i) => answer.value.list[i]?.id === id)
      return isWhole ? ok(answer.value.list) : err(unknownAnswer)
    },
  }
}

/** The answer does not have the documented form. */
const unknownAnswer: ServiceRefusal = {
  status: 200,
  reason: '',
  why: 'the service gave an answer of another form',
}

async function readAnswer(response: Response): Promise<Result<unknown, ServiceRefusal>> {
  const { status, headers } = response
  const bytes = await readBytes(response.body, replyBytesMax)
  let envelope: { readonly msg?: unknown; readonly data?: unknown }
  try {
    envelope = Object(parseAmountsAsText(new TextDecoder().decode(bytes ?? new Uint8Array())))
  } catch {
    envelope = {}
  }
  if (status === 200 && envelope.data !== undefined) return ok(envelope.data)
  const why = typeof envelope.msg === 'string' ? plainText(envelope.msg) : 'no answer of this service'
  return err({ status, reason: plainText(headers.get('x-reason') ?? ''), why: `${status}: ${why}` })
}
