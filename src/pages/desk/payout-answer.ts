import type { Api, Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import { type PostedEntry, readPostedEntries } from './data.ts'
import { type DeskPayout, readDeskPayouts } from './payout-data.ts'

/** The parts that answering needs. */
export interface Asker {
  readonly api: Api
  /** Whether payouts are configured. If not, their routes are not called. */
  hasPayouts(): Promise<boolean>
}

/** A payout with its entries: the amounts taken and returned. */
export interface PayoutStory {
  readonly payout: DeskPayout
  readonly entries: readonly PostedEntry[]
}

/** The types of entries that a payout makes: withdrawal, fee, refund. */
const payoutEntryTypes = [2, 4, 5]

/** Reads payouts by a filter of the service; none if payouts are not configured. */
export async function findPayouts({ api, hasPayouts }: Asker, filter: string): Promise<Reply<ListPage<DeskPayout>>> {
  if (!(await hasPayouts())) return { ok: true, data: { list: [], count: 0 }, msg: '' }
  return api.get(`/ledger/payouts?${filter}`, readDeskPayouts)
}

/** The stories of payouts, in their order. */
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

/** A payout with its own entries out of those of an order; the newest one is first. */
export function storyOf(payout: DeskPayout, entries: readonly PostedEntry[]): PayoutStory {
  return { payout, entries: entries.filter((entry) => isOf(entry, payout)).reverse() }
}

/** Whether an entry belongs to a payout. */
export const isOf = ({ uid, osn, cuy, type }: PostedEntry, payout: DeskPayout) =>
  uid === payout.uid && osn === payout.osn && cuy === payout.cuy && payoutEntryTypes.includes(type)
