import { formatBase58 } from '../../worker/chain/address.ts'
import { ok } from '../../worker/common/result.ts'
import { formatInstant } from '../../worker/common/time.ts'
import { writeNewFile } from '../files.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { openNodes } from '../nodes.ts'
import { cellOptionOf } from '../place.ts'
import type { Terminal } from '../signing/terminal.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { outcomeLine, payoutLine } from './lines.ts'
import type { PayoutOptions } from './options.ts'
import type { ShownPayout } from './payout.ts'
import { proveGone } from './prove.ts'
import { batchMax, openService, type PayoutService, pageMax, type ServiceRefusal, stoppedReason } from './service.ts'
import { type CommandSettings, readServiceUrl } from './settings.ts'
import { fetchedFile, readSignedFile } from './step-files.ts'
import { openTokens } from './token.ts'

/**
 * `payout -- fetch`: writes the service's offer to a file. It uses no key. Returns the exit code.
 */
export async function runFetch(
  values: PayoutOptions,
  command: CommandSettings,
  terminal: Terminal,
  platform: CommandPlatform,
): Promise<number> {
  const { settings } = command
  const service = await openRemote(values, command, platform)
  const now = platform.clock.now()
  const [offer, known] = [await readOffer(service), await service.known(now)]
  if (!known.ok) throw stopOf(known.error)
  if (!offer.ok && offer.error.reason !== stoppedReason) throw stopOf(offer.error)
  const path = values.out ?? `payouts-${formatInstant(now).replace(/[:.]/g, '-')}.json`
  const address = formatBase58(settings.address)
  await writeNewFile(
    path,
    fetchedFile({
      chainId: settings.chainId,
      address,
      offer: offer.ok ? offer.value : null,
      known: [...known.value],
      failed: await findFailed(values.again ?? [], command, terminal, platform),
    }),
  )
  for (const payout of offer.ok ? offer.value.list : [])
    terminal.print(payoutLine('to sign', payout, command, payout.state))
  if (!offer.ok)
    terminal.print(`Nothing is offered: ${offer.error.why}. What the service lacks can be signed all the same.`)
  terminal.print(
    `Written to ${path}. Next, on the machine with the mnemonic: npm run payout -- sign ${path} --limits limits.json${cellOptionOf(command.place)}`,
  )
  return 0
}

/**
 * Asks the configured nodes which of these transactions have failed in a final block, so that a
 * signer without a network can sign their payouts at once. It prints the answer about each.
 */
async function findFailed(
  txids: readonly string[],
  command: CommandSettings,
  terminal: Terminal,
  platform: CommandPlatform,
): Promise<string[]> {
  const wrong = txids.find((txid) => !/^[0-9a-f]{64}$/.test(txid))
  if (wrong !== undefined) throw new OptionError(`--again: fetch takes a txid, not ${wrong}`)
  if (txids.length === 0) return []
  const nodes = openNodes(command.chain(null), { ...platform, signal: new AbortController().signal })
  const failed: string[] = []
  for (const txid of txids) {
    const answer = await proveGone(nodes, { txid, expiration: Number.MAX_SAFE_INTEGER })
    const hasFailed = 'proof' in answer && answer.proof === 'failed'
    if (hasFailed) failed.push(txid)
    const why = 'why' in answer && answer.why !== 'absent' ? answer.why : 'it is in no block'
    const next = `has failed in a final block: sign --again ${txid} signs its payout at once`
    terminal.print(`${txid} ${hasFailed ? next : `is not known to have failed: ${why}`}`)
  }
  return failed
}

/**
 * `payout -- submit`: hands in (sends to the service) the transactions in a file of `sign`. Returns
 * the exit code: 0 if all were accepted.
 */
export async function runSubmit(
  values: PayoutOptions,
  file: string,
  command: CommandSettings,
  terminal: Terminal,
  platform: CommandPlatform,
): Promise<number> {
  const { chainId, address } = command.settings
  const { signed } = await readSignedFile(file, { chainId, address: formatBase58(address) })
  const service = await openRemote(values, command, platform)
  let refused = 0
  for (let i = 0; i < signed.length; i += batchMax) {
    const batch = signed.slice(i, i + batchMax)
    const answer = await service.handIn(batch.map(({ id, transaction }) => ({ id, transaction })))
    if (!answer.ok) throw stopOf(answer.error)
    for (const [k, payout] of batch.entries()) {
      terminal.print(outcomeLine('handed in', payout, command, answer.value[k]))
      if (answer.value[k]?.refused !== undefined) refused += 1
    }
  }
  terminal.print(
    `${signed.length - refused} of ${signed.length} transactions were taken. They can be handed in again at any time.`,
  )
  return refused === 0 ? 0 : 1
}

/** Most pages of the offer that one `fetch` reads. */
const listsMax = 100

/** Reads the pages of the offer, in order: all of them, or the first `listsMax`. */
async function readOffer(service: PayoutService): ReturnType<PayoutService['offer']> {
  const list: ShownPayout[] = []
  for (let lists = 1; ; lists += 1) {
    const offer = await service.offer(list.at(-1)?.id ?? 0)
    if (!offer.ok) return offer
    list.push(...offer.value.list)
    if (offer.value.list.length < pageMax || lists === listsMax) return ok({ ...offer.value, list })
  }
}

async function openRemote(
  values: PayoutOptions,
  { backend, place }: CommandSettings,
  { clock, fetch }: CommandPlatform,
): Promise<PayoutService> {
  return openService(readServiceUrl(values), await openTokens(values.token, backend(), clock), fetch, place)
}

const stopOf = ({ why }: ServiceRefusal) => new ToolError(why, 'run it again once that is repaired: nothing is lost')
