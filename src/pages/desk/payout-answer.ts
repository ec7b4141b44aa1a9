import type { Api, Reply } from '../kit/api.ts'
import type { ListPage } from '../kit/read.ts'
import { type DeskPayout, type PostedEntry, readDeskPayouts, readPostedEntries } from './data.ts'

/** The parts of the desk's context that a search uses. */
export interface Asker {
  readonly api: Api
  /** Whether payouts are configured. If not, their routes do not exist. */
  hasPayouts(): Promise<boolean>
}

/**
 * A payout with its ledger entries, oldest first: the amounts that were taken from the wallet and
 * given back.
 */
export interface PayoutStory {
  readonly payout: DeskPayout
  readonly entries: readonly PostedEntry[]
}

/** The types of entries that a payout makes: withdrawal, fee, refund. */
const payoutEntryTypes = [2, 4, 5]

/**
 * Reads payouts. `filter` is the query of the route, without the question mark. There are none if
 * payouts are not configured.
 */
export async function findPayouts({ api, hasPayouts }: Asker, filter: string): Promise<Reply<ListPage<DeskPayout>>> {
  if (!(await hasPayouts())) return { ok: true, data: { list: [], count: 0 }, msg: '' }
  return api.get(`/ledger/payouts?${filter}`, readDeskPayouts)
}

/**
 * Reads the entries of these payouts. The stories come in reverse order, so oldest first if the
 * payouts are newest first.
 */
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

/**
 * The story of a payout. `entries` are those with its reference, newest first; the ones that belong
 * to other payouts or posts are left out.
 */
export function storyOf(payout: DeskPayout, entries: readonly PostedEntry[]): PayoutStory {
  return { payout, entries: entries.filter((entry) => isOf(entry, payout)).reverse() }
}

/**
 * Whether a payout has made this ledger entry: user, currency and reference are equal, and the type
 * is one that payouts make.
 */
export const isOf = ({ uid, osn, cuy, type }: PostedEntry, payout: DeskPayout) =>
  uid === payout.uid && osn === payout.osn && cuy === payout.cuy && payoutEntryTypes.includes(type)
