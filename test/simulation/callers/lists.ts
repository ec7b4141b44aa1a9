import { isDeepStrictEqual } from 'node:util'
import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import { offered } from '../deployed.ts'
import { observe } from '../observed.ts'
import type { Random } from '../random.ts'
import { currencies } from '../scenario.ts'
import type { StoredEntry } from '../stored.ts'
import type { AnswerData, Client } from './client.ts'
import { tokenOf } from './tokens.ts'

/**
 * Asks for the caller's wallets: the balances of the ledger at one moment, one for each currency.
 */
export async function listWallets(client: Client, uid: Uid): Promise<void> {
  const { env, stored } = client
  const wallets = observe(env, () => {
    const own = new Map(
      stored
        .wallets()
        .filter((wallet) => wallet.uid === uid)
        .map(({ cuy, balance }) => [cuy, balance]),
    )
    const list = offered(env).map(({ cuy, scale }) => ({
      amt: formatUnits(own.get(cuy) ?? 0n, scale),
      cuy: String(cuy),
    }))
    return { list, count: String(list.length) }
  })
  const { status, data } = await client.get('/wallet/list', tokenOf(env, uid))
  const states = wallets.end()
  if (status === 200) checkEqual(client, data, states)
  else if (status < 500) env.violate(`the list of wallets was answered with ${status}`)
}

/**
 * Asks for some of the caller's entries: those of the ledger at one moment that match, newest
 * first.
 */
export async function listEntries(client: Client, uid: Uid): Promise<void> {
  const { env, stored } = client
  const query = drawQuery(env.random, stored.entriesOf(uid))
  const entries = observe(env, () => {
    const matching = stored.entriesOf(uid).filter(query.matches)
    return { list: query.page(matching).map(toItem), count: String(matching.length) }
  })
  const { status, data } = await client.get(`/wallet/flow/list?${query.text}`, tokenOf(env, uid))
  const states = entries.end()
  if (status === 200) checkEqual(client, data, states)
  else if (status < 500) env.violate(`the list of entries was answered with ${status}`)
}

function checkEqual({ env, invocation }: Client, data: AnswerData | undefined, states: readonly unknown[]): void {
  if (states.some((state) => isDeepStrictEqual(data, state))) return
  env.violate(`${invocation.name} was shown ${JSON.stringify(data)}, and the ledger has ${JSON.stringify(states)}`)
}

interface EntryQuery {
  readonly text: string
  readonly matches: (entry: StoredEntry) => boolean
  readonly page: (matching: readonly StoredEntry[]) => readonly StoredEntry[]
}

/** Any query: a page by number or below an id, with one filter or none. */
function drawQuery(random: Random, known: readonly StoredEntry[]): EntryQuery {
  const limit = random.int(1, 4)
  const { text, matches } = drawFilter(random, known)
  if (known.length > 0 && random.chance(0.3)) {
    const before = random.pick(known).id
    const page = (matching: readonly StoredEntry[]) => matching.filter(({ id }) => id < before).slice(0, limit)
    return { text: `${text}&limit=${limit}&before=${before}`, matches, page }
  }
  const number = random.int(1, 3)
  const page = (matching: readonly StoredEntry[]) => matching.slice((number - 1) * limit, number * limit)
  return { text: `${text}&limit=${limit}&page=${number}`, matches, page }
}

function drawFilter(random: Random, known: readonly StoredEntry[]): Pick<EntryQuery, 'text' | 'matches'> {
  const one = known.length > 0 ? random.pick(known) : undefined
  const kind = random.int(1, 6)
  if (kind === 1) return { text: 'type=1', matches: ({ type }) => type === 1 }
  if (kind === 2 || one === undefined) return { text: 'cuy=1', matches: ({ cuy }) => cuy === 1 }
  if (kind === 3) return { text: `wid=${one.wid}`, matches: ({ wid }) => wid === one.wid }
  if (kind === 4) {
    if (one.type !== 1) return { text: `osn=${one.osn}`, matches: ({ osn }) => osn === one.osn }
    const txid = one.osn.slice(0, 64)
    return { text: `osn=${txid}`, matches: ({ osn }) => osn.startsWith(txid) }
  }
  if (kind === 5) {
    const from = new Date(one.createdAt).toISOString()
    return { text: `from=${from}`, matches: ({ createdAt }) => createdAt >= one.createdAt }
  }
  return { text: '', matches: () => true }
}

/** An entry as `/wallet/flow/list` shows it. Its numbers are text, as in `AnswerData`. */
export function toItem({ id, uid, wid, osn, type, cuy, amount, balance, mark, createdAt }: StoredEntry) {
  const scale = currencies.find((currency) => currency.cuy === cuy)?.scale ?? 0
  return {
    id: String(id),
    uid: String(uid),
    wid: String(wid),
    osn,
    type: String(type),
    cuy: String(cuy),
    amt: formatUnits(amount, scale),
    balance: formatUnits(balance, scale),
    mark,
    created_at: new Date(createdAt).toISOString(),
  }
}
