import { query, type Refusal, type Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import {
  type ChainFinding,
  type DeskPayout,
  type OwnedDeposit,
  type PostedEntry,
  readAddresses,
  readChainFinding,
  readDeskBalances,
  readFoundParts,
  readOwnedDeposits,
  readOwner,
  readPostedEntries,
} from './data.ts'
import { type DeskOrder, readDeskOrders } from './order-data.ts'
import { type Asker, findPayouts, isOf, type PayoutStory, payoutStories, storyOf } from './payout-answer.ts'
import { type DeskQuestion, partAt } from './place.ts'
import { listRows } from './walk.ts'

/**
 * A deposit for a story: with its ledger entry and the number of its address. Both are null if they
 * are not loaded or do not exist.
 */
export interface DepositStory {
  readonly deposit: OwnedDeposit
  readonly entry: PostedEntry | null
  readonly addressNumber: number | null
}

/** The answer to a search. Each kind has the data that its story shows. */
export type DeskAnswer =
  | { readonly kind: 'busy' }
  | { readonly kind: 'refusal'; readonly refusal: Refusal }
  | {
      readonly kind: 'transaction'
      readonly txid: string
      readonly stories: readonly DepositStory[]
      readonly payouts: readonly PayoutStory[]
    }
  | { readonly kind: 'chain'; readonly txid: string; readonly found: Reply<ChainFinding> }
  | {
      readonly kind: 'address'
      readonly address: string
      readonly owner: Owner | null
      readonly deposits: Deposits
      readonly payouts: ListPage<DeskPayout>
      readonly orders: ListPage<DeskOrder>
    }
  | {
      readonly kind: 'user'
      readonly uid: number
      readonly balances: ReturnType<typeof readDeskBalances>
      readonly addresses: ReturnType<typeof readAddresses>
      readonly deposits: Deposits
      readonly payouts: ListPage<DeskPayout>
      readonly orders: ListPage<DeskOrder>
      readonly entries: ListPage<PostedEntry>
    }
  | {
      readonly kind: 'order'
      readonly orders: readonly DeskOrder[]
      readonly payouts: readonly PayoutStory[]
      /** The entries with this reference (`osn`) that belong to none of these payouts. */
      readonly entries: readonly PostedEntry[]
    }
  | {
      /** The addresses or txids that begin and end with a part, if it is not a single one. */
      readonly kind: 'parts'
      readonly begin: string
      readonly end: string
      readonly found: readonly string[]
      /** There can be more. */
      readonly more: boolean
    }
  | { readonly kind: 'no-payout' }
  | { readonly kind: 'gap'; readonly from: number; readonly seen: readonly OwnedDeposit[] }
  | { readonly kind: 'endpoint'; readonly number: number }

type Deposits = ListPage<OwnedDeposit>
type Owner = ReturnType<typeof readOwner>

/**
 * Searches that lead to a story (what happened, step by step). An amount leads to a list instead.
 */
type StoryQuestion = Exclude<DeskQuestion, { kind: 'amount' }>

/**
 * The entry and the address are loaded for at most this many deposits of one transaction. Few
 * transactions have more.
 */
const storiesMax = 10
/** Most addresses of a user that are shown. Hardly any user has more than one. */
const addressesMax = 100

/**
 * Finds the answer to a search. If it seems to name a user or a part of something but nothing is
 * found, the whole text `asked` is looked up as the reference of an order, and what follows the
 * word "order" in it. If no order has it, it can be how an address or a txid begins.
 */
export async function findAnswer(asker: Asker, question: StoryQuestion, asked: string): Promise<DeskAnswer> {
  const found = await findFirst(asker, question)
  if (!isNothing(found)) return found
  const [part, named] = [partAt(asked), /^\s*(?:order|订单)\s*(\S.*)$/i.exec(asked)?.[1]]
  const others = await Promise.all([
    question.kind === 'order' && question.uid === null ? found : findOrder(asker, null, asked.trim()),
    named === undefined ? found : findOrder(asker, null, named.trim()),
    part === null ? found : findPart(asker, part),
  ])
  return others.find((one) => one.kind !== 'refusal' && !isNothing(one)) ?? found
}

/** Whether a search for a user or an order has found nothing at all. */
function isNothing(found: DeskAnswer): boolean {
  if (found.kind === 'parts') return found.found.length === 0
  if (found.kind === 'order') return found.orders.length + found.payouts.length + found.entries.length === 0
  if (found.kind !== 'user') return false
  const { addresses, deposits, entries, payouts, orders } = found
  return addresses.count + deposits.count + entries.count + payouts.count + orders.count === 0
}

/** Whether an answer knows no user, so that another database (cell) may know more. */
export function isNowhere(found: DeskAnswer): boolean {
  if (found.kind === 'chain') return found.found.ok && found.found.data.uid === null
  if (found.kind !== 'address') return isNothing(found)
  return found.owner === null && found.deposits.count + found.payouts.count + found.orders.count === 0
}

async function findFirst(asker: Asker, question: StoryQuestion): Promise<DeskAnswer> {
  switch (question.kind) {
    case 'tx':
      return findTransaction(asker, question.txid)
    case 'address':
      return findAddress(asker, question.address)
    case 'user':
      return findUser(asker, question.uid)
    case 'order':
      return findOrder(asker, question.uid, question.osn)
    case 'part':
      return findPart(asker, question)
    case 'gap':
      return findGap(asker, question.number)
    case 'payout':
      return findPayout(asker, question.number)
    default:
      return question
  }
}

/** Finds what a part of an address or a txid belongs to; answers about it at once if it is one. */
async function findPart(asker: Asker, { begin, end }: StoryQuestion & { kind: 'part' }): Promise<DeskAnswer> {
  const answer = await asker.api.get(`/ledger/search?${query({ begin, end: end || null })}`, readFoundParts)
  if (!answer.ok) return { kind: 'refusal', refusal: answer }
  const { list, more } = answer.data
  const [only] = list
  if (only !== undefined && list.length === 1 && !more) {
    return only.address === null ? findTransaction(asker, only.txid ?? '') : findAddress(asker, only.address)
  }
  return { kind: 'parts', begin, end, found: list.map(({ address, txid }) => address ?? txid ?? ''), more }
}

/**
 * Looks for the deposits and payouts of a transaction. Only if there are none, it asks the nodes,
 * which allow few requests.
 */
async function findTransaction(asker: Asker, txid: string): Promise<DeskAnswer> {
  const { api } = asker
  const [found, paid] = await Promise.all([
    api.get(`/ledger/deposits?txid=${txid}&limit=100`, readOwnedDeposits),
    findPayouts(asker, `txid=${txid}&limit=${storiesMax}`),
  ])
  if (!found.ok) return { kind: 'refusal', refusal: found }
  if (!paid.ok) return { kind: 'refusal', refusal: paid }
  if (found.data.list.length + paid.data.list.length === 0) {
    return { kind: 'chain', txid, found: await api.get(`/ledger/transaction?txid=${txid}`, readChainFinding) }
  }
  const list = [...found.data.list].reverse() // oldest first
  const [stories, payouts] = await Promise.all([
    Promise.all(list.slice(0, storiesMax).map((deposit) => loadStory(asker, deposit))),
    payoutStories(api, paid.data.list),
  ])
  const others = list.slice(storiesMax).map((deposit) => ({ deposit, entry: null, addressNumber: null }))
  return { kind: 'transaction', txid, stories: [...stories, ...others], payouts }
}

async function loadStory({ api }: Asker, deposit: OwnedDeposit): Promise<DepositStory> {
  const { uid, entry, address } = deposit
  const [entries, owner] = await Promise.all([
    entry === null ? null : api.get(`/ledger/entries?uid=${uid}&limit=1&before=${entry + 1}`, readPostedEntries),
    api.get(`/ledger/address?address=${encodeURIComponent(address)}`, readOwner),
  ])
  const found = entries?.ok === true ? entries.data.list.find(({ id }) => id === entry) : undefined
  return { deposit, entry: found ?? null, addressNumber: owner.ok ? owner.data.id : null }
}

async function findAddress(asker: Asker, address: string): Promise<DeskAnswer> {
  const { api } = asker
  const [owner, deposits, payouts, orders] = await Promise.all([
    api.get(`/ledger/address?address=${address}`, readOwner),
    api.get(`/ledger/deposits?address=${address}&limit=${listRows}`, readOwnedDeposits),
    findPayouts(asker, `to=${address}&limit=${listRows}`),
    api.get(`/ledger/orders?address=${address}&limit=${listRows}`, readDeskOrders),
  ])
  if (!owner.ok && owner.status !== 404) return { kind: 'refusal', refusal: owner }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  if (!payouts.ok) return { kind: 'refusal', refusal: payouts }
  if (!orders.ok) return { kind: 'refusal', refusal: orders }
  const lists = { deposits: deposits.data, payouts: payouts.data, orders: orders.data }
  return { kind: 'address', address, owner: owner.ok ? owner.data : null, ...lists }
}

/**
 * Reads what is known of a user. `/ledger/address` is not asked, because it could issue an address
 * to a user without one.
 */
async function findUser(asker: Asker, uid: number): Promise<DeskAnswer> {
  const { api } = asker
  const [balances, addresses, deposits, entries, payouts, orders] = await Promise.all([
    api.get(`/ledger/wallets?uid=${uid}`, readDeskBalances),
    api.get(`/ledger/addresses?uid=${uid}&limit=${addressesMax}`, readAddresses),
    api.get(`/ledger/deposits?uid=${uid}&limit=${listRows}`, readOwnedDeposits),
    api.get(`/ledger/entries?uid=${uid}&limit=${listRows}`, readPostedEntries),
    findPayouts(asker, `uid=${uid}&limit=${listRows}`),
    api.get(`/ledger/orders?uid=${uid}&limit=${listRows}`, readDeskOrders),
  ])
  if (!balances.ok) return { kind: 'refusal', refusal: balances }
  if (!addresses.ok) return { kind: 'refusal', refusal: addresses }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  if (!entries.ok) return { kind: 'refusal', refusal: entries }
  if (!payouts.ok) return { kind: 'refusal', refusal: payouts }
  if (!orders.ok) return { kind: 'refusal', refusal: orders }
  const lists = { addresses: addresses.data, deposits: deposits.data, entries: entries.data, payouts: payouts.data }
  return { kind: 'user', uid, balances: balances.data, ...lists, orders: orders.data }
}

/**
 * Finds deposits that wait in unread blocks (a gap): they were seen, and their blocks are final by
 * now.
 */
async function findGap({ api }: Asker, from: number): Promise<DeskAnswer> {
  const found = await api.get('/ledger/deposits?state=seen&limit=100', readOwnedDeposits)
  return { kind: 'gap', from, seen: found.ok ? found.data.list.filter(({ seconds }) => seconds === 0) : [] }
}

/**
 * Finds a payout by its number. No route takes the number, so this asks for the newest payout below
 * the next number.
 */
async function findPayout(asker: Asker, id: number): Promise<DeskAnswer> {
  const found = await findPayouts(asker, `before=${id + 1}&limit=1`)
  if (!found.ok) return { kind: 'refusal', refusal: found }
  const own = found.data.list.filter((one) => one.id === id)
  if (own.length === 0) return { kind: 'no-payout' }
  return { kind: 'order', orders: [], payouts: await payoutStories(asker.api, own), entries: [] }
}

async function findOrder(asker: Asker, uid: number | null, osn: string): Promise<DeskAnswer> {
  // no osn has this form
  if (!/^[ -~]{1,200}$/.test(osn)) return { kind: 'order', orders: [], payouts: [], entries: [] }
  const filter = query({ uid, osn, limit: listRows })
  const [found, paid, orders] = await Promise.all([
    asker.api.get(`/ledger/entries?${filter}`, readPostedEntries),
    findPayouts(asker, filter),
    asker.api.get(`/ledger/orders?${query({ uid, order: osn, limit: listRows })}`, readDeskOrders),
  ])
  if (!found.ok) return { kind: 'refusal', refusal: found }
  if (!paid.ok) return { kind: 'refusal', refusal: paid }
  if (!orders.ok) return { kind: 'refusal', refusal: orders }
  const [entries, payouts] = [found.data.list, [...paid.data.list].reverse()]
  const others = entries.filter((entry) => !payouts.some((payout) => isOf(entry, payout))).reverse()
  return {
    kind: 'order',
    orders: [...orders.data.list].reverse(),
    payouts: payouts.map((payout) => storyOf(payout, entries)),
    entries: others,
  }
}
