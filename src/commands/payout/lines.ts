import type { CurrencyId } from '../../worker/common/ids.ts'
import type { Lacking } from './compare.ts'
import type { ShownPayout } from './payout.ts'
import type { Outcome } from './service.ts'
import type { SignerSettings } from './settings.ts'

/** The settings from which a line takes the names of currencies. */
type Names = { readonly settings: Pick<SignerSettings, 'currencies'> }
/** The members of a payout that a line shows. */
type Described = Pick<ShownPayout, 'cuy' | 'amt' | 'to' | 'uid' | 'osn'> & { readonly txid?: string | undefined }

/** One line about a payout: what was done with it, what it pays to whom, and why. */
export function payoutLine(what: string, payout: Described, { settings }: Names, why: string): string {
  const { cuy, amt, to, uid, osn, txid } = payout
  const symbol = settings.currencies.byId.get(cuy as CurrencyId)?.symbol ?? `of cuy ${cuy}` // safe: looked up
  const name = `${amt} ${symbol} to ${to} (uid ${uid}, ${osn})`
  return `${what}: ${name}${txid === undefined ? '' : ` txid ${txid}`}: ${why}`
}

/** The service's answer about a transaction, in one line. */
export function outcomeLine(what: string, entry: Described, names: Names, outcome: Outcome | undefined): string {
  const { refused, state = 'unknown' } = outcome ?? {}
  if (refused === undefined) return payoutLine(what, entry, names, state)
  return payoutLine(`${what}, REFUSED`, entry, names, `${refused.code}: ${refused.why}`)
}

/**
 * The results of comparing the journal with the service's payouts, in lines. Only results that a
 * person must act on have a line.
 */
export function lackingLines({ notes, foreign }: Lacking, names: Names): readonly string[] {
  const other = 'with another journal: by a second signer, or this is an older copy. Then stop, and use the newest one'
  return [
    ...notes.map(({ entry, why }) => payoutLine('LOOK AT', entry, names, why)),
    ...(foreign === 0 ? [] : [`LOOK AT: payouts that were signed ${other} (${foreign})`]),
  ]
}
