import { existsSync } from 'node:fs'
import { formatBase58 } from '../../worker/chain/address.ts'
import type { CurrencyId } from '../../worker/common/ids.ts'
import type { Clock } from '../../worker/platform/clock.ts'
import { readTextFile } from '../files.ts'
import { keyAt, parsePath, payoutPath, type SigningKey } from '../signing/account-key.ts'
import { askMnemonic } from '../signing/mnemonic.ts'
import type { Terminal } from '../signing/terminal.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { createJournal, type Journal, type JournalEntry, openJournal } from './journal.ts'
import { findHeadFault, judge, minutesMax, type Proof } from './judge.ts'
import { findExcess, type OwnNodesSetting, parseLimits, parseOwnNodes, type SignerLimit, unitsToPay } from './limits.ts'
import type { PayoutOptions } from './options.ts'
import type { OwnNodes } from './own-nodes.ts'
import { parseKey, type ShownHead, type ShownOffer, type ShownPayout } from './payout.ts'
import { type BackendKeys, findProofFault, parseBackendKeys } from './proof.ts'
import type { SignerSettings } from './settings.ts'
import { signPayout } from './sign-payout.ts'

const minutesMin = 10

export interface Signer {
  readonly settings: SignerSettings
  readonly limits: ReadonlyMap<number, SignerLimit>
  readonly backendKeys: BackendKeys | null
  readonly minutes: number
  readonly key: SigningKey
  readonly journal: Journal
  readonly clock: Pick<Clock, 'now'>
  /**
   * The comparisons with the signer's own nodes before anything is signed; null if no node can be
   * asked.
   */
  readonly own: OwnNodes | null
  /** What the signer's own nodes have proven of transactions in the journal, by txid. */
  readonly proven: Map<string, Proof>
  /**
   * Txids in the journal, and keys of payouts (`textOfKey`), for which a person wants a new
   * transaction to be signed.
   */
  readonly again: ReadonlySet<string>
}

/**
 * The parsed file of limits: the signer's limits and, if the file names some, the signer's own
 * nodes.
 */
export interface LimitsFile {
  readonly limits: Signer['limits']
  readonly nodes: OwnNodesSetting | null
}

/** Reads the file of `--limits`, which is required. Throws an `OptionError` or a `ToolError`. */
export async function readLimits({ limits: path }: PayoutOptions, { currencies }: SignerSettings): Promise<LimitsFile> {
  if (path === undefined) throw new OptionError('--limits: the file with what this signer may sign')
  const text = await readTextFile(path)
  return { limits: parseLimits(text, currencies), nodes: parseOwnNodes(text) }
}

/** The next step for a payout that the service offers; `pause` is for all payouts of the offer. */
export type SignerStep =
  | { readonly kind: 'pause'; readonly why: string }
  /** The bytes are in the journal on the disk, and can be handed in. */
  | { readonly kind: 'hand-in'; readonly payout: ShownPayout; readonly entry: JournalEntry; readonly isNew: boolean }
  /**
   * The payout can be signed again once these transactions are proven to have paid nothing. `head`
   * is that of the offer.
   */
  | {
      readonly kind: 'prove'
      readonly payout: ShownPayout
      readonly entries: readonly JournalEntry[]
      readonly head: ShownHead
    }
  | { readonly kind: 'leave'; readonly payout: ShownPayout; readonly why: string }

/**
 * Reads the signer's files and asks for the mnemonic. `minutesDefault` is the lifetime of a
 * transaction without `--minutes`. Throws an `OptionError` or a `ToolError`.
 */
export async function openSigner(
  values: PayoutOptions,
  settings: SignerSettings,
  limits: Signer['limits'],
  terminal: Terminal,
  clock: Signer['clock'],
  minutesDefault: number,
): Promise<Omit<Signer, 'own'>> {
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
  const again = readAgain(values.again ?? [], journal, journalPath)
  terminal.print(`Journal ${journalPath}: ${journal.entries.length} transactions signed before.`)
  if (journal.wasCut)
    terminal.print('Its last line had been cut short, and was removed: nothing of it had left this machine.')
  return { settings, limits, backendKeys, minutes, key, journal, clock, proven: new Map(), again }
}

function readAgain(named: readonly string[], { entries }: Journal, path: string): ReadonlySet<string> {
  const known = new Set(entries.map(({ txid }) => txid))
  return new Set(
    named.map((text) => {
      const key = known.has(text) ? text : parseKey(text)
      if (key !== null) return key
      throw new OptionError(`--again: ${text} is not in ${path}, and no payout as uid:cuy:osn either`)
    }),
  )
}

/**
 * Signs the allowed payouts of an offer. Before a step of the kind `hand-in` is returned, its
 * transaction is on the disk.
 */
export async function* signOffer(signer: Signer, { list, address, head }: ShownOffer): AsyncGenerator<SignerStep> {
  const { settings, journal, clock, proven, again, minutes, own: nodes } = signer
  const { startedAt } = journal
  const headFault = findHeadFault(head, journal.entries.at(-1)?.head ?? null, clock.now(), minutes)
  const own = formatBase58(settings.address)
  const block =
    address === own ? `the service's newest final block cannot be used: ${headFault}` : `it pays from ${address}`
  let isHeld = address !== own || headFault !== null
  if (isHeld && list.length > 0) yield { kind: 'pause', why: block }
  let isCompared = nodes === null
  for (const payout of list) {
    const now = clock.now()
    const verdict = judge(payout, { earlier: journal.of(payout), startedAt, head, now, proven, again })
    if (verdict.kind === 'hand-in') yield { ...verdict, payout, isNew: false }
    else if (verdict.kind === 'prove') yield { ...verdict, payout, head }
    else if (verdict.kind === 'leave') yield { ...verdict, payout }
    if (verdict.kind !== 'sign' || isHeld) continue
    // nodes are asked once an offer, and only if it has a payout to sign
    const why = isCompared ? null : ((await nodes?.whyNotHead(head)) ?? null)
    isCompared = true
    isHeld = why !== null
    yield why === null ? await signOne(signer, payout, head) : { kind: 'pause', why }
  }
}

/**
 * Signs a payout to which `judge` said `sign`, unless its currency, proof, decimals or amount keep
 * it from being signed.
 */
async function signOne(signer: Signer, payout: ShownPayout, head: ShownHead): Promise<SignerStep> {
  const { settings, limits, backendKeys, minutes, key, journal, clock, own } = signer
  const leave = (why: string): SignerStep => ({ kind: 'leave', payout, why })
  // safe: a number that no currency has finds none
  const currency = settings.currencies.byId.get(payout.cuy as CurrencyId)
  if (currency === undefined) return leave(`CURRENCIES of this machine has no cuy ${payout.cuy}`)
  const units = unitsToPay(payout, currency)
  if (units === null) return leave(`${payout.amt} is not an amount of ${currency.symbol}`)
  const proofFault = backendKeys === null ? null : await findProofFault(payout, backendKeys)
  const differing = (await own?.whyNotDecimals(currency)) ?? null
  const now = clock.now()
  const fault =
    proofFault ?? differing ?? findExcess({ units, uid: payout.uid }, currency, limits.get(currency.cuy), journal, now)
  if (fault !== null) return leave(fault)
  const at = Math.max(now, (journal.entries.at(-1)?.at ?? 0) + 1)
  const entry = signPayout(payout, { currency, units, feeLimit: settings.feeLimit, head, minutes, at }, key)
  journal.append(entry)
  return { kind: 'hand-in', payout, entry, isNew: true }
}
