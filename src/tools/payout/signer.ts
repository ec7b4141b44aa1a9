import { existsSync } from 'node:fs'
import { formatBase58 } from '../../chain/address.ts'
import type { CurrencyId } from '../../common/ids.ts'
import type { Clock } from '../../platform/clock.ts'
import { readTextFile } from '../files.ts'
import { keyAt, parsePath, payoutPath, type SigningKey } from '../signing/account-key.ts'
import { askMnemonic } from '../signing/mnemonic.ts'
import type { Terminal } from '../signing/terminal.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { createJournal, type Journal, type JournalEntry, openJournal } from './journal.ts'
import { findHeadFault, judge, minutesMax } from './judge.ts'
import { findExcess, parseLimits, type SignerLimit, unitsToPay } from './limits.ts'
import type { PayoutOptions } from './options.ts'
import type { ShownHead, ShownOffer, ShownPayout } from './payout.ts'
import { type BackendKeys, findProofFault, parseBackendKeys } from './proof.ts'
import type { SignerSettings } from './settings.ts'
import { signPayout } from './sign-payout.ts'

const minutesMin = 10

/** Everything that signing needs: a key, limits and a journal. */
export interface Signer {
  readonly settings: SignerSettings
  readonly limits: ReadonlyMap<number, SignerLimit>
  readonly backendKeys: BackendKeys | null
  readonly minutes: number
  readonly key: SigningKey
  readonly journal: Journal
  readonly clock: Pick<Clock, 'now'>
  /** Txids that can never pay any more, by nodes or by a person. */
  readonly gone: Set<string>
}

/** What becomes of a payout that the service offers, or of all of them. */
export type SignerStep =
  | { readonly kind: 'hold'; readonly why: string }
  /** The bytes are in the journal, on the disk, and go to the service. */
  | { readonly kind: 'hand-in'; readonly payout: ShownPayout; readonly entry: JournalEntry; readonly isNew: boolean }
  /** These transactions must be known to have paid nothing before it can be signed again. */
  | { readonly kind: 'prove'; readonly payout: ShownPayout; readonly entries: readonly JournalEntry[] }
  | { readonly kind: 'leave'; readonly payout: ShownPayout; readonly why: string }

/** Reads what signing needs, the key last. `minutesDefault` is how long a transaction can be mined without `--minutes`. */
export async function openSigner(
  values: PayoutOptions,
  settings: SignerSettings,
  terminal: Terminal,
  clock: Signer['clock'],
  minutesDefault: number,
): Promise<Signer> {
  if (values.limits === undefined) throw new OptionError('--limits: the file with what this signer may sign')
  const limits = parseLimits(await readTextFile(values.limits), settings.currencies)
  const keysFile = values['backend-keys']
  const backendKeys = keysFile === undefined ? null : parseBackendKeys(await readTextFile(keysFile))
  const minutes = Number(values.minutes ?? minutesDefault)
  if (!Number.isInteger(minutes) || minutes < minutesMin || minutes > minutesMax) {
    throw new OptionError(`--minutes: a whole number from ${minutesMin} to ${minutesMax}`)
  }
  const path = parsePath(values.path ?? payoutPath)
  if (path === null) throw new OptionError(`--path: a derivation path such as ${payoutPath}`)
  const owner = { chainId: settings.chainId, address: formatBase58(settings.address) }
  const journalPath = values.journal ?? `payout-journal-${owner.address}.jsonl`
  const isNew = values['new-journal']
  if (isNew && existsSync(journalPath)) throw new ToolError(`${journalPath} exists already`, 'leave --new-journal out')
  const mnemonic = await askMnemonic(terminal, `Mnemonic of the payout address ${owner.address}`)
  const key = keyAt(mnemonic, path)
  if (key.address !== settings.address) {
    throw new ToolError(
      `this mnemonic has ${formatBase58(key.address)} at ${path}, and PAYOUTS has ${owner.address}`,
      'type the mnemonic of the payout address, or name its path with --path',
    )
  }
  if (isNew) createJournal(journalPath, owner, clock.now())
  const journal = openJournal(journalPath, owner)
  const known = new Set(journal.entries.map(({ txid }) => txid))
  const stranger = values.again?.find((txid) => !known.has(txid))
  if (stranger !== undefined) throw new OptionError(`--again: ${stranger} is not in ${journalPath}`)
  terminal.print(`Journal ${journalPath}: ${journal.entries.length} transactions signed before.`)
  if (journal.wasCut)
    terminal.print('Its last line had been cut short, and was removed: nothing of it had left this machine.')
  return { settings, limits, backendKeys, minutes, key, journal, clock, gone: new Set(values.again) }
}

/** Signs what may be signed of an offer. What a step of the kind `hand-in` has is on the disk before the step is here. */
export async function* signOffer(signer: Signer, { list, address, head }: ShownOffer): AsyncGenerator<SignerStep> {
  const { settings, journal, clock, gone, minutes } = signer
  const { startedAt } = journal
  const headFault = findHeadFault(head, journal.entries.at(-1)?.head ?? null, clock.now(), minutes)
  const own = formatBase58(settings.address)
  const block =
    address === own ? `the service's newest final block cannot be used: ${headFault}` : `it pays from ${address}`
  const isHeld = address !== own || headFault !== null
  if (isHeld && list.length > 0) yield { kind: 'hold', why: block }
  for (const payout of list) {
    const now = clock.now()
    const verdict = judge(payout, { earlier: journal.of(payout), startedAt, head, now, gone })
    if (verdict.kind === 'hand-in') yield { ...verdict, payout, isNew: false }
    else if (verdict.kind !== 'sign') yield { ...verdict, payout }
    else if (!isHeld) yield await signOne(signer, payout, head)
  }
}

/** Signs a payout that its key allows to be signed, if all the rest does. */
async function signOne(signer: Signer, payout: ShownPayout, head: ShownHead): Promise<SignerStep> {
  const { settings, limits, backendKeys, minutes, key, journal, clock } = signer
  const leave = (why: string): SignerStep => ({ kind: 'leave', payout, why })
  const currency = settings.currencies.byId.get(payout.cuy as CurrencyId) // safe: looked up
  if (currency === undefined) return leave(`CURRENCIES of this machine has no cuy ${payout.cuy}`)
  const units = unitsToPay(payout, currency)
  if (units === null) return leave(`${payout.amt} is not an amount of ${currency.symbol}`)
  const proofFault = backendKeys === null ? null : await findProofFault(payout, backendKeys)
  const now = clock.now()
  const fault = proofFault ?? findExcess(units, currency, limits.get(currency.cuy), journal, now)
  if (fault !== null) return leave(fault)
  const at = Math.max(now, (journal.entries.at(-1)?.at ?? 0) + 1)
  const entry = signPayout(payout, { currency, units, feeLimit: settings.feeLimit, head, minutes, at }, key)
  journal.append(entry)
  return { kind: 'hand-in', payout, entry, isNew: true }
}
