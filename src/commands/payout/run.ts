import { formatInstant } from '../../worker/common/time.ts'
import type { Clock } from '../../worker/platform/clock.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { type AgreedNodes, openNodes } from '../nodes.ts'
import type { Terminal } from '../signing/terminal.ts'
import { ToolError } from '../tool-error.ts'
import { findLacking } from './compare.ts'
import type { JournalEntry } from './journal.ts'
import { sayWhenExpired } from './judge.ts'
import { lackingLines, outcomeLine, payoutLine } from './lines.ts'
import type { PayoutOptions } from './options.ts'
import { createOwnNodes } from './own-nodes.ts'
import { type PayoutKey, textOfKey } from './payout.ts'
import { proveGone } from './prove.ts'
import { batchMax, openService, type PayoutService, pageMax, type ServiceRefusal, stoppedReason } from './service.ts'
import { type CommandSettings, readServiceUrl } from './settings.ts'
import { openSigner, readLimits, type Signer, type SignerStep, signOffer } from './signer.ts'
import { openTokens } from './token.ts'

/**
 * Pause between two requests to the service. With it, a payout within the limits is broadcast 5 s
 * after it was asked for.
 */
const pollMs = 2_000
/**
 * The pause after a round that has handed in something: where many payouts come, none waits for the
 * usual pause.
 */
const busyPollMs = 500
/** Lifetime of a transaction, in minutes after the newest final block. */
const minutesDefault = 15
/** A refused transaction is tried again after this time. */
const againMs = 60_000
/** The signer's own nodes are asked again about a transaction after this time. */
const proveAgainMs = 10_000
/**
 * The journal is compared with the service's payouts this often while the service offers nothing
 * because payouts are stopped.
 */
const compareMs = 300_000

/** `payout -- run`: signs payouts until the person stops the command. Returns the exit code. */
export async function runRun(
  values: PayoutOptions,
  { settings, place, backend, chain }: CommandSettings,
  terminal: Terminal,
  { clock, fetch }: CommandPlatform,
  stopsInOrder: () => AbortSignal,
): Promise<number> {
  const { limits, nodes: ownNodes } = await readLimits(values, settings)
  const config = chain(ownNodes)
  const tokens = await openTokens(values.token, backend(), clock)
  const service = openService(readServiceUrl(values), tokens, fetch, place)
  const opened = await openSigner(values, settings, limits, terminal, clock, minutesDefault)
  const signal = stopsInOrder() // until here Ctrl-C ends the command at once
  const nodes = openNodes(config, { clock, fetch, signal })
  const signer = { ...opened, own: createOwnNodes(nodes) }
  const print = (line: string) => terminal.print(`${formatInstant(clock.now())}  ${line}`)
  terminal.print('Running. Ctrl-C stops it; it can be stopped at any point.')
  await keepSigning({ signer, service, nodes, clock, print }, signal)
  signer.journal.close()
  return 0
}

export interface RunParts {
  readonly signer: Signer
  readonly service: PayoutService
  readonly nodes: AgreedNodes
  readonly clock: Clock
  readonly print: (line: string) => void
}

/**
 * Asks for payouts, signs them and hands in the transactions until `signal` is aborted. The process
 * may be killed at any point: the journal contains everything that matters.
 */
export async function keepSigning(parts: RunParts, signal: AbortSignal): Promise<void> {
  const { clock } = parts
  const run: Run = {
    ...parts,
    signal,
    log: () => {},
    after: 0,
    isStopped: false,
    isBusy: false,
    triedAt: new Map(),
    inquiries: new Set(),
    named: new Set(),
    whyStillPayable: new Map(),
  }
  const openRound = createDedupedLog(parts.print)
  let comparedAt: number | null = null
  while (!signal.aborted) {
    if (run.after === 0) run.log = openRound()
    run.isBusy = false
    comparedAt ??= (await compare(run)) ? clock.now() : null
    if (comparedAt !== null) {
      const wasStopped = run.isStopped
      run.isStopped = (await signOffered(run)) === stoppedReason
      // While payouts are stopped the service offers none. It still accepts the journal's
      // transactions that it lacks, for example after a restore.
      if (run.isStopped && (!wasStopped || clock.now() >= comparedAt + compareMs)) comparedAt = null
    }
    await clock.sleep(run.isBusy ? busyPollMs : pollMs, signal)
  }
}

interface Run extends RunParts {
  readonly signal: AbortSignal
  /**
   * The id after which the next round continues. Payouts that the signer does not sign, however
   * many, must not keep later payouts waiting.
   */
  after: number
  /** Whether the service has stopped payouts. */
  isStopped: boolean
  /** Whether this round has handed in something. */
  isBusy: boolean
  /** Prints a line about a subject unless the last round printed it. */
  log: (subject: string, line: string) => void
  /** When the service last answered about each payout, by its key. */
  readonly triedAt: Map<string, number>
  /**
   * The lines that comparisons of the journal with the service's payouts have printed. Each line is
   * printed only once.
   */
  readonly named: Set<string>
  /** Txids about which the signer's own nodes are being asked now. */
  readonly inquiries: Set<string>
  /**
   * Why a transaction may still pay, by its txid, according to the last answer of the signer's own
   * nodes. `absent`: it is in no block so far.
   */
  readonly whyStillPayable: Map<string, string>
}

/**
 * Returns a function that begins a round and returns its `log`. A line is not printed if the last
 * round's line about its subject differs only in digits.
 */
function createDedupedLog(print: (line: string) => void): () => Run['log'] {
  let said = new Map<string, string>()
  return () => {
    const before = said
    const now = new Map<string, string>()
    said = now
    return (subject, line) => {
      const withoutDigits = line.replaceAll(/\d+/g, '')
      now.set(subject, withoutDigits)
      if (before.get(subject) !== withoutDigits) print(line)
    }
  }
}

/**
 * Hands in again the transactions of the journal that the service lacks. Returns whether the
 * service answered.
 */
async function compare(run: Run): Promise<boolean> {
  const { signer, service, clock } = run
  const stored = await service.known(clock.now())
  if (!stored.ok) return logRefusal(run, stored.error)
  const lacking = findLacking(signer.journal, stored.value, { now: clock.now(), isStopped: run.isStopped })
  for (const line of lackingLines(lacking, signer)) logOnce(run, line)
  const { handIns } = lacking
  for (let i = 0; i < handIns.length; i += batchMax) {
    if (!(await handIn(run, handIns.slice(i, i + batchMax)))) return false
  }
  return true
}

function logOnce({ named, print }: Run, line: string): void {
  if (!named.has(line)) print(line)
  named.add(line)
}

/** Signs the offered payouts. Returns the service's reason for offering none, or null. */
async function signOffered(run: Run): Promise<string | null> {
  const offer = await run.service.offer(run.after)
  if (!offer.ok) {
    logRefusal(run, offer.error)
    return offer.error.reason
  }
  let batch: HandIn[] = []
  for await (const step of signOffer(run.signer, offer.value)) {
    if (step.kind === 'pause') run.log('offer', `Nothing is signed: ${step.why}`)
    else if (step.kind === 'leave')
      run.log(textOfKey(step.payout), payoutLine('not signed', step.payout, run.signer, step.why))
    else if (step.kind === 'prove') askNodes(run, step)
    else if (step.isNew || isDue(run, step.payout)) batch.push(step)
    if (batch.length < batchMax) continue
    await handIn(run, batch)
    batch = []
  }
  if (batch.length > 0) await handIn(run, batch)
  const { list } = offer.value
  run.after = list.length < pageMax ? 0 : (list.at(-1)?.id ?? 0)
  return null
}

const isDue = ({ triedAt, clock }: Run, key: PayoutKey) => clock.now() >= (triedAt.get(textOfKey(key)) ?? 0) + againMs

/** A transaction of the journal, with the id that the service now has for its payout. */
type HandIn = Pick<SignerStep & { kind: 'hand-in' }, 'payout' | 'entry'> & { readonly isNew?: boolean }

/**
 * Hands in transactions. Returns whether the service answered. Without an answer they are handed in
 * again, after the service's next offer or the next comparison of the journal.
 */
async function handIn(run: Run, batch: readonly HandIn[]): Promise<boolean> {
  const answer = await run.service.handIn(
    batch.map(({ payout: { id }, entry: { transaction } }) => ({ id, transaction })),
  )
  if (!answer.ok) return logRefusal(run, answer.error)
  run.isBusy = true
  for (const [i, { payout, entry, isNew = false }] of batch.entries()) {
    run.triedAt.set(textOfKey(payout), run.clock.now())
    run.print(outcomeLine(isNew ? 'signed' : 'handed in again', entry, run.signer, answer.value[i]))
  }
  return true
}

/**
 * Asks the signer's own nodes about transactions that, as the service says, have ended. The rounds
 * go on meanwhile.
 */
function askNodes(run: Run, { payout, entries }: SignerStep & { kind: 'prove' }): void {
  const { signer, whyStillPayable, clock } = run
  for (const entry of entries) {
    const isAbsent = signer.proven.has(entry.txid) || whyStillPayable.get(entry.txid) === 'absent'
    const why = isAbsent
      ? sayWhenExpired(entry, { now: clock.now() })
      : (whyStillPayable.get(entry.txid) ?? 'the nodes are asked')
    run.log(textOfKey(payout), payoutLine('not signed again', entry, signer, why))
    if (run.inquiries.has(entry.txid) || signer.proven.has(entry.txid)) continue
    run.inquiries.add(entry.txid)
    void askAbout(run, entry)
  }
}

async function askAbout(
  { nodes, signer, inquiries, whyStillPayable, clock, signal }: Run,
  entry: JournalEntry,
): Promise<void> {
  const answer = await proveGone(nodes, entry).catch((error: unknown) => {
    if (error instanceof ToolError) return { why: error.why }
    throw error
  })
  if ('proof' in answer) signer.proven.set(entry.txid, answer.proof)
  else {
    whyStillPayable.set(entry.txid, answer.why)
    await clock.sleep(proveAgainMs, signal)
  }
  inquiries.delete(entry.txid)
}

function logRefusal(run: Run, { why }: ServiceRefusal): false {
  run.log('service', `No payouts are signed now: ${why}`)
  return false
}
