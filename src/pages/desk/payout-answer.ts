import type { Api, Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import { type PostedEntry, readPostedEntries } from './data.ts'
import { type DeskPayout, readDeskPayouts } from './payout-data.ts'

/** What questions are answered by. */
export interface Asker {
  readonly api: Api
  /** Whether there are payouts: else their routes are not asked. */
  hasPayouts(): Promise<boolean>
}

/** A payout with its entries: what was taken, and what came back. */
export interface PayoutStory {
  readonly payout: DeskPayout
  readonly entries: readonly PostedEntry[]
}

/** A withdrawal, its fee and a refund: the entries that a payout makes. */
const payoutEntryTypes = [2, 4, 5]

/** Payouts by a filter of the service; none where there are none. */
export async function findPayouts({ api, hasPayouts }: Asker, filter: string): Promise<Reply<ListPage<DeskPayout>>> {
  if (!(await hasPayouts())) return { ok: true, data: { list: [], count: 0 }, msg: '' }
  return api.get(`/ledger/payouts?${filter}`, readDeskPayouts)
}

/** The stories of payouts, the first one first. */
export async function payoutStories(api: Api, payouts: readonly DeskPayout[]): Promise<readonly PayoutStory[]> {
  const stories = payouts.map(async (payout) => {
    const { uid, osn } = payout
    const found = await api.get(
      `/ledger/entries?uid=${uid}&osn=${encodeURIComponent(osn)}&limit=100`,
      readPostedEntries,
    )
    return storyOf(payout, found.ok ? found.data.list : [])
  })
  return (await Promise.all(stories)).reverse()
}

/** A payout with those of an order's entries that are its own; the newest one is the first of these. */
export function storyOf(payout: DeskPayout, entries: readonly PostedEntry[]): PayoutStory {
  return { payout, entries: entries.filter((entry) => isOf(entry, payout)).reverse() }
}

/** Whether an entry is one of a payout's. */
export const isOf = ({ uid, osn, cuy, type }: PostedEntry, payout: DeskPayout) =>
  uid === payout.uid && osn === payout.osn && cuy === payout.cuy && payoutEntryTypes.includes(type)
