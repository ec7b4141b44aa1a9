import type { Api, Refusal, Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import {
  type ChainFinding,
  type OwnedDeposit,
  type PostedEntry,
  readAddresses,
  readChainFinding,
  readDeskBalances,
  readOwnedDeposits,
  readOwner,
  readPostedEntries,
} from './data.ts'
import { parseQuestion } from './place.ts'
import { listRows } from './walk.ts'

/** A deposit with its entry, and the number of its address, where they are loaded. */
export interface DepositStory {
  readonly deposit: OwnedDeposit
  readonly entry: PostedEntry | null
  readonly addressNumber: number | null
}

/** What the box answers. */
export type DeskAnswer =
  | { readonly kind: 'busy' }
  | { readonly kind: 'whose'; readonly osn: string }
  | { readonly kind: 'refusal'; readonly refusal: Refusal }
  | { readonly kind: 'transaction'; readonly txid: string; readonly stories: readonly DepositStory[] }
  | { readonly kind: 'chain'; readonly txid: string; readonly found: Reply<ChainFinding> }
  | { readonly kind: 'address'; readonly address: string; readonly owner: Owner | null; readonly deposits: Deposits }
  | {
      readonly kind: 'user'
      readonly uid: number
      readonly balances: ReturnType<typeof readDeskBalances>
      readonly addresses: ReturnType<typeof readAddresses>
      readonly deposits: Deposits
      readonly entries: ListPage<PostedEntry>
    }
  | { readonly kind: 'order'; readonly uid: number; readonly osn: string; readonly entries: readonly PostedEntry[] }
  | { readonly kind: 'gap'; readonly from: number; readonly seen: readonly OwnedDeposit[] }
  | { readonly kind: 'endpoint'; readonly number: number }

type Deposits = ListPage<OwnedDeposit>
type Owner = ReturnType<typeof readOwner>

/** Deposits of one transaction whose stories are loaded; few transactions have more. */
const storiesMax = 10
/** Addresses of a user that are shown; hardly anybody has more than one. */
const addressesMax = 100

/** Finds the answer to what was asked: a transaction, an address, a user, an order, a gap or an endpoint. */
export async function findAnswer(api: Api, asked: string): Promise<DeskAnswer> {
  const question = parseQuestion(asked)
  switch (question.kind) {
    case 'tx':
      return findTransaction(api, question.txid)
    case 'address':
      return findAddress(api, question.address)
    case 'user':
      return findUser(api, question.uid)
    case 'order':
      return findOrder(api, question.uid, question.osn)
    case 'gap':
      return findGap(api, question.number)
    default:
      return question
  }
}

/** The nodes are asked only about what no deposit is stored of: they allow few requests. */
async function findTransaction(api: Api, txid: string): Promise<DeskAnswer> {
  const found = await api.get(`/ledger/deposits?txid=${txid}&limit=100`, readOwnedDeposits)
  if (!found.ok) return { kind: 'refusal', refusal: found }
  if (found.data.list.length === 0) {
    return { kind: 'chain', txid, found: await api.get(`/ledger/transaction?txid=${txid}`, readChainFinding) }
  }
  const list = [...found.data.list].reverse() // in the order in which they were found
  const stories = await Promise.all(list.slice(0, storiesMax).map((deposit) => loadStory(api, deposit)))
  const others = list.slice(storiesMax).map((deposit) => ({ deposit, entry: null, addressNumber: null }))
  return { kind: 'transaction', txid, stories: [...stories, ...others] }
}

async function loadStory(api: Api, deposit: OwnedDeposit): Promise<DepositStory> {
  const { uid, entry, address } = deposit
  const [entries, owner] = await Promise.all([
    entry === null ? null : api.get(`/ledger/entries?uid=${uid}&limit=1&before=${entry + 1}`, readPostedEntries),
    api.get(`/ledger/address?address=${encodeURIComponent(address)}`, readOwner),
  ])
  const found = entries?.ok === true ? entries.data.list.find(({ id }) => id === entry) : undefined
  return { deposit, entry: found ?? null, addressNumber: owner.ok ? owner.data.id : null }
}

async function findAddress(api: Api, address: string): Promise<DeskAnswer> {
  const [owner, deposits] = await Promise.all([
    api.get(`/ledger/address?address=${address}`, readOwner),
    api.get(`/ledger/deposits?address=${address}&limit=${listRows}`, readOwnedDeposits),
  ])
  if (!owner.ok && owner.status !== 404) return { kind: 'refusal', refusal: owner }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  return { kind: 'address', address, owner: owner.ok ? owner.data : null, deposits: deposits.data }
}

/** `/tron/generate` is not asked: it would issue an address to who has none. */
async function findUser(api: Api, uid: number): Promise<DeskAnswer> {
  const [balances, addresses, deposits, entries] = await Promise.all([
    api.get(`/ledger/wallets?uid=${uid}`, readDeskBalances),
    api.get(`/ledger/addresses?uid=${uid}&limit=${addressesMax}`, readAddresses),
    api.get(`/ledger/deposits?uid=${uid}&limit=${listRows}`, readOwnedDeposits),
    api.get(`/ledger/entries?uid=${uid}&limit=${listRows}`, readPostedEntries),
  ])
  if (!balances.ok) return { kind: 'refusal', refusal: balances }
  if (!addresses.ok) return { kind: 'refusal', refusal: addresses }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  if (!entries.ok) return { kind: 'refusal', refusal: entries }
  const lists = { addresses: addresses.data, deposits: deposits.data, entries: entries.data }
  return { kind: 'user', uid, balances: balances.data, ...lists }
}

/** What was seen in final blocks and is not credited: it waits in a gap. */
async function findGap(api: Api, from: number): Promise<DeskAnswer> {
  const found = await api.get('/ledger/deposits?state=seen&limit=100', readOwnedDeposits)
  return { kind: 'gap', from, seen: found.ok ? found.data.list.filter(({ seconds }) => seconds === 0) : [] }
}

async function findOrder(api: Api, uid: number, osn: string): Promise<DeskAnswer> {
  const found = await api.get(
    `/ledger/entries?uid=${uid}&osn=${encodeURIComponent(osn)}&limit=${listRows}`,
    readPostedEntries,
  )
  if (!found.ok) return { kind: 'refusal', refusal: found }
  return { kind: 'order', uid, osn, entries: [...found.data.list].reverse() }
}
