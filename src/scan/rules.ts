import { type AddressOwner, matchAddresses } from '../addresses/address-book.ts'
import type { Address } from '../chain/address.ts'
import { type BlockHeight, nativeAsset } from '../chain/block.ts'
import type { Chain, MatchOwn } from '../chain/chain.ts'
import type { UnixMs } from '../common/time.ts'
import type { ReadDatabase } from '../d1/database.ts'
import { type JudgeRules, judgeTransfer, type Owners } from '../deposits/transfer.ts'
import { selectHeldAgain, storeTransfers } from '../deposits/transfers.ts'
import type { WriteContext } from '../ledger/context.ts'
import { selectDecimals, selectOperators, storeDecimals, storeOperators } from '../ledger/stored-settings.ts'
import type { ObjectHost } from '../platform/object-host.ts'

/** What the scanner's work needs besides the chain. */
export interface ScanContext extends WriteContext {
  readonly host: Pick<ObjectHost, 'load' | 'save'>
}

/** A token of which the decimals are not agreed as they are configured. */
interface DecimalsTry {
  /** What the nodes agreed on, or null. */
  readonly found: number | null
  readonly tries: number
  readonly nextTry: UnixMs
}

const memoryKey = 'decimals'
/** The configured operators of which no held transfer is left. */
const operatorsKey = 'operators'
const retryMsMin = 20_000
const retryMsMax = 86_400_000
/** Held transfers of each reason that one tick decides again. */
const heldMax = 500

/** Looks addresses up in the database, so that each one that was issued before is found, and keeps their owners. */
export function createOwners(db: ReadDatabase): { readonly match: MatchOwn; readonly owners: Owners } {
  const owners = new Map<Address, AddressOwner>()
  return {
    owners,
    async match(addresses) {
      const found = await matchAddresses(db, addresses)
      for (const [address, owner] of found) owners.set(address, owner)
      return new Set(found.keys())
    },
  }
}

/**
 * What transfers are judged by. Operators are stored for good, with the position of the scan as the height from which they
 * count: nothing above it is decided yet. The decimals of a token are asked until nodes agree on the configured ones, ever
 * more rarely, and then never again.
 */
export async function loadRules(
  context: ScanContext,
  chain: Pick<Chain, 'decimals'>,
  position: BlockHeight,
): Promise<JudgeRules> {
  const { db, currencies, operators } = context
  const [since, stored] = await Promise.all([selectOperators(db), selectDecimals(db)])
  const added = [...operators].filter((address) => !since.has(address))
  if (added.length > 0) await storeOperators(db, added, Math.max(0, position) as BlockHeight)
  const decimals = await askDecimals(context, chain, stored)
  return { currencies, operators: { listed: operators, since }, decimals }
}

/** The stored decimals, and those that nodes agree on now. */
async function askDecimals(
  context: ScanContext,
  chain: Pick<Chain, 'decimals'>,
  stored: ReadonlyMap<Address, number>,
): Promise<ReadonlyMap<Address, number>> {
  const { db, host, clock, currencies, alarms } = context
  const known = new Map(stored)
  const missing = [...currencies.byContract].filter(([contract, { retired }]) => !retired && !stored.has(contract))
  if (missing.length === 0) return known
  const tries = { ...(await host.load<Record<Address, DecimalsTry>>(memoryKey)) }
  for (const [contract, { cuy, decimals: configured }] of missing) {
    const last = tries[contract] ?? { found: null, tries: 0, nextTry: 0 as UnixMs }
    let { found } = last
    if (found !== configured && last.nextTry <= clock.now()) {
      const answer = await chain.decimals(contract)
      if (!answer.ok && (answer.error.kind === 'limited' || answer.error.kind === 'out-of-time')) continue
      if (answer.ok) found = answer.value
      const nextTry = (clock.now() + Math.min(retryMsMin * 2 ** last.tries, retryMsMax)) as UnixMs // safe: a later time
      tries[contract] = { found, tries: last.tries + 1, nextTry }
      host.save(memoryKey, tries)
      // Not believed for ever: a contract can show false ones for a while.
      if (answer.ok && found !== configured) {
        await alarms.raise('decimals-differ', { cuy }, { cuy, configured, contract: found })
      }
    }
    if (found === configured) {
      // Also where they were found before `CURRENCIES` was corrected.
      if (await alarms.clear('decimals-differ', { cuy })) await storeDecimals(db, contract, found)
    }
    if (found !== null) known.set(contract, found)
  }
  return known
}

/**
 * Decides held transfers again whose reason may have ended, and all that a wallet has sent which is an operator's since. No
 * node is asked. None where `correctedBy` is not the newest correction. True where there were any.
 */
export async function decideHeld(context: ScanContext, rules: JudgeRules, correctedBy: number): Promise<boolean> {
  const { db, clock, host, currencies, operators } = context
  const accepted = currencies.list.filter(({ retired }) => !retired)
  const found = accepted.flatMap(({ cuy, asset, decimals: configured }) => {
    const decimals = asset.kind === 'trc20' ? rules.decimals.get(asset.contract) : undefined
    return decimals === undefined ? [] : [{ cuy, isConfigured: decimals === configured }]
  })
  const listed = new Set(await host.load<readonly Address[]>(operatorsKey))
  const senders = [...operators].filter((address) => !listed.has(address))
  const held = await selectHeldAgain(db, {
    ...{ accepted, senders, max: heldMax },
    known: found.map(({ cuy }) => cuy),
    agreed: found.filter(({ isConfigured }) => isConfigured).map(({ cuy }) => cuy),
  })
  const owners = await matchAddresses(
    db,
    held.flatMap(({ from, to }) => [from, to]),
  )
  const decided = held.flatMap((stored) => {
    // A currency keeps its contract for good.
    const asset = stored.native ? nativeAsset : currencies.byId.get(stored.cuy)?.asset
    if (asset === undefined) return []
    const judged = judgeTransfer({ ...stored, asset, amount: stored.raw }, stored.block, owners, rules)
    return judged === null || judged === 'early' ? [] : [judged]
  })
  const stored = await storeTransfers(db, decided, clock.now(), correctedBy)
  const isAll = stored === 'stored' && held.filter(({ from }) => senders.includes(from)).length < heldMax
  if (senders.length > 0 && isAll) host.save(operatorsKey, [...operators])
  return held.length > 0
}
