import { matchAddresses } from '../addresses/store/address-book.ts'
import type { Address } from '../chain/address.ts'
import { type BlockHeight, nativeAsset } from '../chain/block.ts'
import type { BlockReading, Chain, ChainTransfer, ReceiptReading } from '../chain/chain.ts'
import { dayMs, type UnixMs } from '../common/time.ts'
import type { ReadDatabase } from '../d1/database.ts'
import { selectHeldAgain } from '../deposits/store/held.ts'
import { storeTransfers } from '../deposits/store/transfers.ts'
import { type JudgeRules, judgeTransfer, type Owners } from '../deposits/transfer.ts'
import type { WriteContext } from '../ledger/context.ts'
import { selectKept, storeDecimals, storeOperators, storeOtherPayers } from '../ledger/kept-settings.ts'
import type { ReadOfPayouts } from '../payouts/conclusions.ts'
import { neverAsked, selectTries, storeTry } from './store/tokens.ts'

/** Everything that the scanner's work needs, except the chain. */
export type ScanContext = WriteContext

const retryMsMin = 20_000
const retryMsMax = dayMs
/** How many held transfers one tick decides again, at most, for each kind of reason. */
const heldMax = 500

/**
 * Reads the users of all addresses in these readings: senders and recipients of transfers,
 * addresses that issuers name, and senders of transactions. One round trip.
 */
export async function readOwners(
  db: ReadDatabase,
  readings: readonly (BlockReading | ReceiptReading)[],
): Promise<Owners> {
  const addresses = new Set<Address>()
  for (const reading of readings) {
    if ('transfers' in reading) for (const { from, to } of reading.transfers) addresses.add(from).add(to)
    if ('acts' in reading) for (const { address } of reading.acts) if (address !== null) addresses.add(address)
    if ('sent' in reading) for (const { owner } of reading.sent) addresses.add(owner)
  }
  return matchAddresses(db, [...addresses])
}

/** The transfers to or from addresses of the service. */
export function selectOwned(transfers: readonly ChainTransfer[], owners: Owners): readonly ChainTransfer[] {
  return transfers.filter(({ from, to }) => owners.has(from) || owners.has(to))
}

/**
 * Loads the rules by which transfers are judged. New operator and payout addresses, also those of
 * other cells, are stored for good; each counts from the position of the scan, above which nothing
 * is decided yet. `payersBefore` are payout addresses that a restored database may lack. Nodes are
 * asked for a token's decimals, with growing pauses, until they agree on the configured ones; then
 * the decimals are stored for good.
 */
export async function loadRules(
  context: ScanContext,
  chain: Pick<Chain, 'decimals'>,
  scannedHeight: BlockHeight,
  payersBefore: readonly Address[],
): Promise<JudgeRules> {
  const { db, currencies, operators, payouts, payoutAddresses } = context
  const kept = await selectKept(db)
  const from = Math.max(0, scannedHeight) as BlockHeight // safe: a height, or 0
  const newIn = (known: ReadonlyMap<Address, BlockHeight>, addresses: Iterable<Address>) =>
    [...new Set(addresses)].filter((address) => !known.has(address))
  const addedPayers = newIn(kept.payers, [...payersBefore, ...(payouts === null ? [] : [payouts.address])])
  const added = newIn(kept.operators, [...operators, ...payersBefore])
  if (added.length + addedPayers.length > 0) await storeOperators(db, added, addedPayers, from)
  const others = [...payoutAddresses].filter((address) => address !== payouts?.address)
  await storeOtherPayers(
    db,
    others.filter((address) => !kept.otherPayers.has(address)),
  )
  const otherPayers = new Set([...kept.otherPayers, ...others])
  const decimals = await askDecimals(context, chain, kept.decimals)
  const addTo = (known: ReadonlyMap<Address, BlockHeight>, addresses: readonly Address[]) =>
    new Map([...known, ...addresses.map((address) => [address, from] as const)])
  const since = addTo(kept.operators, added)
  const payers = addTo(kept.payers, addedPayers)
  const sharedPayers = [...payers.keys()].filter((address) => address !== payouts?.address && otherPayers.has(address))
  for (const address of sharedPayers) payers.delete(address)
  return { currencies, operators: { listed: operators, since, otherPayers }, decimals, payers, sharedPayers }
}

/**
 * The payout addresses that a read of blocks looks for: every one ever used, and those of open
 * transactions, whatever the configuration says.
 */
export type PayoutWatch = Pick<ReadOfPayouts, 'watched' | 'hasOpen' | 'since' | 'shared'>

/** The payout addresses to look for: those of the rules, and those that have open transactions. */
export function watchedFor(
  { openPayers }: { readonly openPayers: readonly Address[] },
  { payers, sharedPayers }: Pick<JudgeRules, 'payers' | 'sharedPayers'>,
): PayoutWatch {
  const watched = new Set([...payers.keys(), ...sharedPayers, ...openPayers])
  return { watched, hasOpen: openPayers.length > 0, since: payers, shared: new Set(sharedPayers) }
}

/**
 * The decimals of tokens: the stored ones, and for a token without stored decimals those that nodes
 * agree on now.
 */
async function askDecimals(
  context: ScanContext,
  chain: Pick<Chain, 'decimals'>,
  stored: ReadonlyMap<Address, number>,
): Promise<ReadonlyMap<Address, number>> {
  const { db, clock, currencies, alarms } = context
  const known = new Map(stored)
  const missing = [...currencies.byContract].filter(([contract, { retired }]) => !retired && !stored.has(contract))
  if (missing.length === 0) return known
  const tries = await selectTries(
    db,
    missing.map(([contract]) => contract),
  )
  for (const [contract, { cuy, decimals: configured }] of missing) {
    const last = tries.get(contract) ?? neverAsked
    let { found } = last
    if (found !== configured && last.nextTry <= clock.now()) {
      const answer = await chain.decimals(contract)
      if (!answer.ok && (answer.error.kind === 'limited' || answer.error.kind === 'out-of-time')) continue
      if (answer.ok) found = answer.value
      const nextTry = (clock.now() + Math.min(retryMsMin * 2 ** last.tries, retryMsMax)) as UnixMs // safe: a later time
      await storeTry(db, contract, { found, tries: last.tries + 1, nextTry })
      // Ask again later: a contract may show false decimals for a while.
      if (answer.ok && found !== configured) {
        await alarms.raise('decimals-differ', { cuy }, { cuy, configured, contract: found })
      }
    }
    if (found === configured) {
      // Clear the alarm also if `CURRENCIES` was corrected to decimals that were found before.
      if (await alarms.clear('decimals-differ', { cuy })) await storeDecimals(db, contract, found)
    }
    if (found !== null) known.set(contract, found)
  }
  return known
}

/**
 * The decimals of tokens that nodes have agreed on: the ones stored for good, or for a token
 * without them the last ones found.
 */
export async function selectKnownDecimals(
  db: ReadDatabase,
  contracts: readonly Address[],
): Promise<ReadonlyMap<Address, number>> {
  const known = new Map((await selectKept(db)).decimals)
  const missing = contracts.filter((contract) => !known.has(contract))
  if (missing.length === 0) return known
  for (const [contract, { found }] of await selectTries(db, missing)) if (found !== null) known.set(contract, found)
  return known
}

/**
 * Decides held transfers again whose reason may have ended, and those whose sender has become an
 * operator wallet. No node is asked. Nothing is stored if an operator has lowered the finalized
 * height after the correction `correctedBy`. Returns true if there were any transfers to decide.
 */
export async function decideHeld(context: ScanContext, rules: JudgeRules, correctedBy: number): Promise<boolean> {
  const { db, clock, currencies, operators } = context
  const accepted = currencies.list.filter(({ retired }) => !retired)
  const found = accepted.flatMap(({ cuy, asset, decimals: configured }) => {
    const decimals = asset.kind === 'trc20' ? rules.decimals.get(asset.contract) : undefined
    return decimals === undefined ? [] : [{ cuy, isConfigured: decimals === configured }]
  })
  const held = await selectHeldAgain(db, {
    accepted,
    known: found.map(({ cuy }) => cuy),
    agreed: found.filter(({ isConfigured }) => isConfigured).map(({ cuy }) => cuy),
    senders: [...operators],
    max: heldMax,
  })
  const owners = await matchAddresses(
    db,
    held.flatMap(({ from, to }) => [from, to]),
  )
  const judged = held.flatMap((stored) => {
    // The configuration has the asset of a stored transfer, because a currency never changes its
    // contract.
    const asset = stored.native ? nativeAsset : currencies.byId.get(stored.cuy)?.asset
    if (asset === undefined) return []
    const block = { ...stored.block, timestamp: null }
    const judgement = judgeTransfer({ ...stored, asset, amount: stored.raw }, block, owners, rules)
    return judgement === null || judgement === 'paid-before-issue' ? [] : [judgement]
  })
  await storeTransfers(db, judged, clock.now(), correctedBy)
  return held.length > 0
}
