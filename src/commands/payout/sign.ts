import { networkInterfaces } from 'node:os'
import { formatBase58 } from '../../worker/chain/address.ts'
import type { ChainConfig } from '../../worker/config/chain.ts'
import { writeNewFile } from '../files.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { cellOptionOf } from '../place.ts'
import type { Terminal } from '../signing/terminal.ts'
import { ToolError } from '../tool-error.ts'
import { findLacking } from './compare.ts'
import type { JournalEntry } from './journal.ts'
import { isExpired, minutesMax, type Proof, sayWhenExpired } from './judge.ts'
import { lackingLines, payoutLine } from './lines.ts'
import type { PayoutOptions } from './options.ts'
import type { OwnNodes } from './own-nodes.ts'
import type { ShownHead, ShownOffer, ShownPayout } from './payout.ts'
import type { CommandSettings } from './settings.ts'
import { openSigner, readLimits, type Signer, signOffer } from './signer.ts'
import { readFetchedFile, type SignedPayout, signedFile } from './step-files.ts'

/**
 * `payout -- sign`: signs the offer in a file of `fetch`. It uses no network. Returns the exit
 * code.
 */
export async function runSignPayouts(
  values: PayoutOptions,
  file: string,
  command: CommandSettings,
  terminal: Terminal,
  platform: CommandPlatform,
): Promise<number> {
  const { clock } = platform
  if (!values['beside-network'] && hasNetwork()) {
    throw new ToolError(
      'this machine has a network, and this command a key',
      'take the network away, or add --beside-network',
    )
  }
  const { chainId, address } = command.settings
  const own = { chainId, address: formatBase58(address) }
  const { offer, known, failed } = await readFetchedFile(file, own)
  const { limits, nodes } = await readLimits(values, command.settings)
  const opened = values['beside-network'] && nodes !== null ? await openOwn(command.chain(nodes), platform) : null
  const signer = {
    ...(await openSigner(values, command.settings, limits, terminal, clock, minutesMax)),
    own: opened?.own ?? null,
  }
  // Neither a person nor the machine that fetched decides alone.
  for (const txid of failed) if (signer.again.has(txid)) signer.proven.set(txid, 'failed')
  if (opened === null && offer !== null) terminal.print(uncompared(offer.head))
  // by id, because a payout whose transaction the service lacks may be in the offer, too
  const signed = new Map<number, SignedPayout>()
  const add = (
    { id }: ShownPayout,
    { uid, cuy, osn, amt, to, attempts, created_at, txid, transaction }: JournalEntry,
  ) => signed.set(id, { id, uid, cuy, osn, amt, to, attempts, created_at, txid, transaction })
  const lacking = findLacking(signer.journal, known, { now: clock.now(), isStopped: offer === null })
  for (const line of lackingLines(lacking, signer)) terminal.print(line)
  for (const { payout, entry } of lacking.handIns) add(payout, entry)
  if (opened !== null && offer !== null) await proveAll(signer, offer, opened)
  for await (const step of offer === null ? [] : signOffer(signer, offer)) {
    if (step.kind === 'hand-in') {
      terminal.print(payoutLine(step.isNew ? 'signed' : 'to hand in again', step.entry, signer, 'in the journal'))
      add(step.payout, step.entry)
    } else if (step.kind === 'pause') terminal.print(`Nothing is signed: ${step.why}`)
    else if (step.kind === 'leave') terminal.print(payoutLine('not signed', step.payout, signer, step.why))
    else {
      for (const entry of step.entries)
        terminal.print(
          payoutLine('not signed again', entry, signer, whyNotAgain(entry, { now: clock.now(), head: step.head })),
        )
    }
  }
  signer.journal.close()
  const out = values.out ?? file.replace(/(\.json)?$/, '.signed.json')
  await writeNewFile(out, signedFile({ ...own, signed: [...signed.values()] }))
  terminal.print(
    `${signed.size} transactions: ${out}. Next, with a network: npm run payout -- submit ${out}${cellOptionOf(command.place)}`,
  )
  return 0
}

/** The signer's own nodes: what they confirm, and what they prove of a transaction. */
interface Opened {
  readonly own: OwnNodes
  prove(entry: JournalEntry): Promise<Proof | null>
}

/**
 * Opens the signer's own nodes. The imports are here, because without nodes this command loads no
 * code that talks to them.
 */
async function openOwn(config: ChainConfig, platform: CommandPlatform): Promise<Opened> {
  const [{ openNodes }, { createOwnNodes }, { proveGone }] = await Promise.all([
    import('../nodes.ts'),
    import('./own-nodes.ts'),
    import('./prove.ts'),
  ])
  const nodes = openNodes(config, { ...platform, signal: new AbortController().signal })
  return {
    own: createOwnNodes(nodes),
    async prove(entry) {
      const answer = await proveGone(nodes, entry)
      return 'proof' in answer ? answer.proof : null
    },
  }
}

/**
 * Asks the signer's own nodes about the earlier transactions of payouts that the service offers
 * with a higher number of attempts.
 */
async function proveAll({ journal, proven }: Signer, { list }: ShownOffer, { prove }: Opened): Promise<void> {
  for (const payout of list) {
    for (const entry of journal.of(payout)) {
      const proof = payout.attempts > entry.attempts ? await prove(entry) : null
      if (proof !== null) proven.set(entry.txid, proof)
    }
  }
}

const uncompared = ({ height, hash, created_at }: ShownHead) =>
  `Refers to block ${height} of ${created_at}, ${hash}. No node was asked: neither this block nor any decimals are compared.`

/**
 * Why a transaction in the journal keeps its payout from being signed again. No node is asked here,
 * so only its time and a person can say that it is over.
 */
function whyNotAgain(entry: JournalEntry, clocks: Parameters<typeof isExpired>[1]): string {
  if (!isExpired(entry, clocks)) {
    return `${sayWhenExpired(entry, clocks)}, or at once if fetch --again ${entry.txid} finds that it has failed`
  }
  return `look it up with an explorer: if it is in no block, or has failed, sign with --again ${entry.txid}`
}

/** Whether this machine has an address other than its loopback ones. */
function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ internal }) => !internal))
}
