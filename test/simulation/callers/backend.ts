import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { LedgerMethods } from '../../../src/worker/rpc/ledger-methods.ts'
import { bearer } from '../../support/tokens.ts'
import { mayFail } from '../database.ts'
import type { Environment, SentDecision, SentEntry } from '../environment.ts'
import { trackOperation } from '../event-loop.ts'
import type { Invocation } from '../invocation.ts'
import { currencies } from '../scenario.ts'
import type { Stored } from '../stored.ts'
import { type AnswerData, checkAnswer } from './client.ts'
import { backendTokenAt } from './tokens.ts'

/** The answer to a post: the stored entries with all members as text, or why it was refused. */
export type PostAnswer =
  | { readonly kind: 'ok'; readonly replayed: boolean; readonly items: readonly Readonly<Record<string, string>>[] }
  | { readonly kind: 'conflict' | 'short' | 'refused' | 'failed' }

/**
 * The answer to decisions about deposits: the stored decision of each deposit, or why the request
 * was refused.
 */
export type DecideAnswer =
  | { readonly kind: 'ok'; readonly decided: readonly string[] }
  | { readonly kind: 'conflict' | 'unknown' | 'refused' | 'failed' }

/**
 * A backend that makes one call to the service, over HTTP or RPC. `env` and `stored` are what its
 * answers are checked against.
 */
export interface Backend {
  readonly env: Environment
  readonly stored: Stored
  readonly invocation: Invocation
  post(entries: readonly SentEntry[]): Promise<PostAnswer>
  decide(decisions: readonly SentDecision[]): Promise<DecideAnswer>
}

/**
 * Makes a backend that calls an isolate of the service, at random over HTTP or RPC. An answer
 * `failed` while the platform works is a violation.
 */
export function createBackend(
  parts: Pick<Backend, 'env' | 'stored' | 'invocation'>,
  isolate: { readonly fetch: (request: Request) => Promise<Response>; readonly ledger: () => LedgerMethods },
): Backend {
  const { env, invocation } = parts
  return {
    ...parts,
    async post(entries) {
      const sent = entries.map(({ amount, ...entry }) => ({ ...entry, amt: formatUnits(amount, scaleOf(entry.cuy)) }))
      const answer = env.random.chance(0.5) ? await overHttp(sent) : await overRpc(sent)
      env.trace(() => `${invocation.name} ← ${JSON.stringify(answer)}`)
      if (answer.kind === 'failed' && !mayFail(env, invocation)) {
        env.violate(`${invocation.name} failed while the platform worked`)
      }
      return answer
    },
    async decide(decisions) {
      const sent = decisions.map(({ txid, position, decision }) => ({
        txid,
        decision,
        why: 'looked at',
        position: position < 0 ? `i${-1 - position}` : position,
      }))
      const answer = env.random.chance(0.5) ? await decideOverHttp(sent) : await decideOverRpc(sent)
      env.trace(() => `${invocation.name} ← ${JSON.stringify(answer)} about ${JSON.stringify(sent)}`)
      if (answer.kind === 'failed' && !mayFail(env, invocation)) {
        env.violate(`${invocation.name} failed while the platform worked`)
      }
      return answer
    },
  }

  async function decideOverHttp(deposits: readonly object[]): Promise<DecideAnswer> {
    const { status, data } = await send('/ledger/deposits/decide', { deposits })
    if (status !== 200) return { kind: status === 404 ? 'unknown' : status === 409 ? 'conflict' : kindOf(status) }
    // safe: compared with what is stored
    const list = data?.list as readonly { readonly decided: { readonly decision: string } }[]
    return { kind: 'ok', decided: list.map(({ decided: { decision } }) => decision) }
  }

  async function decideOverRpc(deposits: readonly object[]): Promise<DecideAnswer> {
    const answer = await isolate.ledger().decideDeposits(deposits as never, 'shop') // safe: the service checks it
    if (answer.ok) return { kind: 'ok', decided: answer.deposits.map(({ decided }) => decided?.decision ?? '') }
    const { kind } = answer.error
    if (kind === 'conflict') return { kind }
    return { kind: kind === 'not-found' ? 'unknown' : kind === 'bad-input' ? 'refused' : 'failed' }
  }

  async function send(path: string, body: object) {
    const headers = { ...bearer(backendTokenAt(env)), 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await isolate.fetch(new Request(`https://wallet.test${path}`, init))
    const text = await trackOperation(response.text())
    return checkAnswer(env, invocation, response, text)
  }

  async function overHttp(entries: readonly object[]): Promise<PostAnswer> {
    const { status, data } = await send('/ledger/entries', { entries })
    if (status !== 200) return { kind: refusals.get(status) ?? 'failed' }
    const items = data?.list as readonly Readonly<Record<string, string>>[] // safe: compared with what is stored
    return { kind: 'ok', replayed: data?.replayed === (true as unknown as AnswerData), items }
  }

  async function overRpc(entries: readonly object[]): Promise<PostAnswer> {
    const posted = await isolate.ledger().post(entries as never, 'shop') // safe: the service checks what it gets
    if (posted.ok) {
      const items = posted.entries.map((entry) =>
        Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, String(value)])),
      )
      return { kind: 'ok', replayed: posted.replayed, items }
    }
    const { kind } = posted.error
    if (kind === 'conflict') return { kind }
    if (kind === 'insufficient' || kind === 'wallet-full') return { kind: 'short' }
    return { kind: kind === 'bad-input' ? 'refused' : 'failed' }
  }
}

const kindOf = (status: number) => (status < 500 ? 'refused' : 'failed')

const refusals = new Map([
  [409, 'conflict'],
  [422, 'short'],
  [400, 'refused'],
  [401, 'refused'],
  [403, 'refused'],
] as const) as ReadonlyMap<number, 'conflict' | 'short' | 'refused'>

function scaleOf(cuy: number): number {
  return currencies.find((currency) => currency.cuy === cuy)?.scale ?? 0
}
