import { payoutAddress } from '../support/payouts.ts'
import { currencies, type Scenario } from './scenario.ts'
import type { Stored, StoredAct } from './stored.ts'

// The states of the database in which no payout may be sent: the service's rules, written a second
// time, over the stored rows.

/** A reason that keeps money from leaving, in one currency or in all (null). */
interface Wrong {
  readonly cuy: number | null
  readonly name: string
}

/** The reasons that keep money from leaving, and since when the database has known each. */
export interface KnownWrong {
  /** Looks at the database again. The simulation must call it after each write to the database. */
  note(): void
  /**
   * A reason that keeps this currency's money from leaving and has been known for at least `ms`;
   * null if there is none.
   */
  find(cuy: number, ms?: number): string | null
  /** When a reason that kept this currency's money from leaving last ended; 0: never. */
  endedAt(cuy: number): number
}

/** What keeps the tokens of the payout address from leaving, by the newest act of each kind. */
function wrongByIssuers(acts: readonly StoredAct[]): readonly Wrong[] {
  const newest = new Map<string, StoredAct>()
  const ordered = [...acts].sort((a, b) => a.height - b.height || a.place - b.place || a.position - b.position)
  for (const act of ordered) {
    const isOfAddress = act.kind === 'frozen' || act.kind === 'released'
    if (act.kind === 'destroyed' || (isOfAddress && act.address !== payoutAddress)) continue
    newest.set(`${act.cuy} ${switchOf[act.kind]}`, act)
  }
  return [...newest.values()].flatMap(({ cuy, kind, raw, isConfirmed }) => {
    const isOver = kind === 'released' || kind === 'unpaused'
    return isOver || (kind === 'fee-set' && (raw === '0' || isConfirmed === 1)) ? [] : [{ cuy, name: kind }]
  })
}

const switchOf = {
  frozen: 'freeze',
  released: 'freeze',
  paused: 'pause',
  unpaused: 'pause',
  'fee-set': 'fee',
  deprecated: 'contract',
} as const

/** Follows over a run which reasons keep money from leaving. */
export function createKnownWrong(
  {
    scheduler,
    scenario,
  }: { readonly scheduler: { now(): number }; readonly scenario: Pick<Scenario, 'decimalsDiffer'> },
  stored: Stored,
): KnownWrong {
  const since = new Map<string, Wrong & { readonly at: number }>()
  const ended = new Map<number | null, number>()
  let acts = -1
  let byIssuers: readonly Wrong[] = []
  const now = (): readonly Wrong[] => {
    const scan = stored.scan()
    const count = stored.countActs()
    if (count !== acts) byIssuers = wrongByIssuers(stored.acts())
    acts = count
    return [
      ...(scan?.halted == null ? [] : [{ cuy: null, name: 'fork' }]),
      ...(scan?.restoredAt == null ? [] : [{ cuy: null, name: 'restored copy' }]),
      ...byIssuers,
    ]
  }
  const isUnagreed = (cuy: number) => {
    const contract = currencies.find((one) => one.cuy === cuy)?.contract ?? null
    return contract !== null && stored.countAgreed(contract) === 0
  }
  return {
    note() {
      const at = scheduler.now()
      const found = new Map(now().map((one) => [`${one.cuy} ${one.name}`, { ...one, at }]))
      for (const [key, { cuy }] of since) {
        if (found.has(key)) continue
        since.delete(key)
        ended.set(cuy, at)
      }
      for (const [key, one] of found) if (!since.has(key)) since.set(key, one)
    },
    find(cuy, ms = 0) {
      const isOf = (one: Wrong & { readonly at: number }) =>
        (one.cuy === null || one.cuy === cuy) && one.at <= scheduler.now() - ms
      const one = [...since.values()].find(isOf)
      if (one !== undefined) return one.name
      return isUnagreed(cuy) ? (scenario.decimalsDiffer && cuy === 3 ? 'other decimals' : 'unknown decimals') : null
    },
    endedAt: (cuy) => Math.max(ended.get(null) ?? 0, ended.get(cuy) ?? 0),
  }
}
