import type { Api, Refusal, Reply } from '../kit/api.ts'
import { findTxid, type ListPage } from '../kit/read.ts'
import {
  type ChainFinding,
  type OwnedDeposit,
  type PostedEntry,
  readChainFinding,
  readDeskBalances,
  readOwnedDeposits,
  readOwner,
  readPostedEntries,
} from './data.ts'

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
const rows = 20

/** Finds the answer to what was asked: a transaction, an address, a user, an order, a gap or an endpoint. */
export async function findAnswer(api: Api, question: string): Promise<DeskAnswer> {
  const text = question.trim()
  const txid = findTxid(text)
  if (txid !== null) return findTransaction(api, txid)
  const address = /(?<![0-9A-Za-z])(?:T[1-9A-HJ-NP-Za-km-z]{33}|41[0-9a-fA-F]{40})(?![0-9A-Za-z])/.exec(text)?.[0]
  if (address !== undefined) return findAddress(api, address)
  const [, named = '', number = ''] = /^(gap|endpoint) (\d{1,15})$/.exec(text) ?? []
  if (named === 'gap') return findGap(api, Number(number))
  if (named === 'endpoint') return { kind: 'endpoint', number: Number(number) }
  const [, uid, osn] = /^([1-9]\d{0,15})(?:\s+(\S.*))?$/.exec(text) ?? []
  if (uid === undefined) return { kind: 'whose', osn: text }
  return osn === undefined ? findUser(api, Number(uid)) : findOrder(api, Number(uid), osn)
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
    api.get(`/ledger/deposits?address=${address}&limit=${rows}`, readOwnedDeposits),
  ])
  if (!owner.ok && owner.status !== 404) return { kind: 'refusal', refusal: owner }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  return { kind: 'address', address, owner: owner.ok ? owner.data : null, deposits: deposits.data }
}

/** The address of a user is not asked for: the service would issue one to who has none. */
async function findUser(api: Api, uid: number): Promise<DeskAnswer> {
  const [balances, deposits, entries] = await Promise.all([
    api.get(`/ledger/wallets?uid=${uid}`, readDeskBalances),
    api.get(`/ledger/deposits?uid=${uid}&limit=${rows}`, readOwnedDeposits),
    api.get(`/ledger/entries?uid=${uid}&limit=${rows}`, readPostedEntries),
  ])
  if (!balances.ok) return { kind: 'refusal', refusal: balances }
  if (!deposits.ok) return { kind: 'refusal', refusal: deposits }
  if (!entries.ok) return { kind: 'refusal', refusal: entries }
  return { kind: 'user', uid, balances: balances.data, deposits: deposits.data, entries: entries.data }
}

/** What was seen in final blocks and is not credited: it waits in a gap. */
async function findGap(api: Api, from: number): Promise<DeskAnswer> {
  const found = await api.get('/ledger/deposits?state=seen&limit=100', readOwnedDeposits)
  return { kind: 'gap', from, seen: found.ok ? found.data.list.filter(({ seconds }) => seconds === 0) : [] }
}

async function findOrder(api: Api, uid: number, osn: string): Promise<DeskAnswer> {
  const found = await api.get(
    `/ledger/entries?uid=${uid}&osn=${encodeURIComponent(osn)}&limit=${rows}`,
    readPostedEntries,
  )
  if (!found.ok) return { kind: 'refusal', refusal: found }
  return { kind: 'order', uid, osn, entries: [...found.data.list].reverse() }
}
