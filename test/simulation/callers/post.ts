import { isDeepStrictEqual } from 'node:util'
import type { SentEntry, SentPost } from '../environment.ts'
import { observe } from '../observed.ts'
import type { Stored, StoredEntry } from '../stored.ts'
import type { Backend } from './backend.ts'
import { toItem } from './lists.ts'

/**
 * Sends a post, for the first time or again. If the answer is that the post is stored, the entries
 * in the answer must be the stored ones. The cause of a refusal must exist at some moment between
 * the request and the answer. A post that was accepted before must not be refused.
 */
export async function sendPost(backend: Backend, post: SentPost): Promise<void> {
  const { env, stored, invocation } = backend
  const { entries } = post
  const wasAccepted = post.isAccepted
  post.isAnswered = false
  const observed = observe(env, () => readState(stored, entries))
  const answer = await backend.post(entries)
  const states = observed.end()
  const violate = (promise: string) => env.violate(`${invocation.name} ${promise}: ${entries.map(({ osn }) => osn)}`)
  env.count(`post: ${answer.kind}`)
  if (answer.kind === 'failed') {
    if (env.phase === 'healthy') violate('failed in a healthy environment')
    return
  }
  post.isAnswered = true
  if (answer.kind === 'ok') {
    if (!answer.replayed && states.every(({ known }) => known.some(Boolean)))
      violate('was stored although it was known')
    const items = (states.at(-1)?.known ?? []).map((entry) => entry && { ...toItem(entry), by: entry.by })
    if (!isDeepStrictEqual(answer.items, items)) {
      violate(`was answered with ${JSON.stringify(answer.items)}, and the ledger has ${JSON.stringify(items)}`)
    }
    if (states.every((state) => !isStored(state, entries))) violate('was answered as stored with other content')
    post.isAccepted = true
    return
  }
  if (wasAccepted) violate(`was accepted before and is now answered as ${answer.kind}`)
  if (answer.kind === 'refused') violate('is right and was refused')
  const isTrue = states.some((state) => {
    const isNew = !state.known.some(Boolean)
    return answer.kind === 'conflict' ? !isNew && !isStored(state, entries) : isNew && isShort(state, entries)
  })
  if (answer.kind !== 'refused' && !isTrue) violate(`was refused as ${answer.kind} without a cause`)
}

/** The entries stored under the keys of a post, and the balances of all wallets. */
interface State {
  readonly known: readonly (StoredEntry | undefined)[]
  readonly balances: ReadonlyMap<string, bigint>
}

function readState(stored: Stored, entries: readonly SentEntry[]): State {
  return {
    known: readKnown(stored, entries),
    balances: new Map(stored.wallets().map(({ uid, cuy, balance }) => [`${uid} ${cuy}`, balance])),
  }
}

const readKnown = (stored: Stored, entries: readonly SentEntry[]) =>
  entries.map(({ uid, cuy, type, osn }) => stored.entryOf(uid, cuy, type, osn))

/** Whether each entry of a post is stored, with its own amount and mark. */
export function isWholeStored(stored: Stored, entries: readonly SentEntry[]): boolean {
  return isStored({ known: readKnown(stored, entries) }, entries)
}

function isStored({ known }: Pick<State, 'known'>, entries: readonly SentEntry[]): boolean {
  return entries.every(({ amount, mark }, i) => known[i]?.amount === amount && known[i]?.mark === mark)
}

/** Whether one of the entries would bring a balance below 0, or to 2^53 units or more. */
function isShort({ balances }: State, entries: readonly SentEntry[]): boolean {
  const held = new Map(balances)
  return entries.some(({ uid, cuy, amount }) => {
    const after = (held.get(`${uid} ${cuy}`) ?? 0n) + amount
    held.set(`${uid} ${cuy}`, after)
    return after < 0n || after >= 2n ** 53n
  })
}

/**
 * The fault of the posted entries at the end, or null: each belongs to a post that is stored whole,
 * and no accepted one is missing.
 */
export function auditPosts(posts: readonly SentPost[], stored: Stored): string | null {
  const explained = new Set<number>()
  for (const { entries, isAccepted } of posts) {
    const known = readKnown(stored, entries)
    if (isStored({ known }, entries)) for (const entry of known) explained.add(entry?.id ?? 0)
    else if (isAccepted) return `the accepted post ${entries.map(({ osn }) => osn)} is not stored`
  }
  const isOfPayout = ({ uid, cuy, type, osn }: StoredEntry) =>
    [2, 4, 5].includes(type) && stored.payoutOf(uid, cuy, osn) !== undefined
  // `auditOrders` checks what orders take
  const isOfOrder = ({ uid, type, osn }: StoredEntry) => type === 4 && stored.orderOf(uid, osn) !== undefined
  const stray = stored
    .entries()
    .find((one) => one.type !== 1 && !explained.has(one.id) && !isOfPayout(one) && !isOfOrder(one))
  return stray === undefined ? null : `entry ${stray.osn} belongs to no post that is stored whole`
}
