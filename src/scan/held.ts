import { matchAddresses } from '../addresses/address-book.ts'
import { nativeAsset, trc20Asset } from '../chain/asset.ts'
import type { ChainTransfer } from '../chain/chain.ts'
import { type JudgeRules, judgeTransfer } from '../deposits/judge.ts'
import type { StoredTransfer } from '../deposits/transfer.ts'
import { selectHeldAgain, storeTransfers } from '../deposits/transfers.ts'
import type { Currencies } from '../ledger/currencies.ts'
import type { ScanContext } from './rules.ts'

/** Held transfers of each reason that one tick decides again. */
const heldMax = 500

/** Decides held transfers again whose reason may have ended. No node is asked. True where there were any. */
export async function decideHeld({ db, clock, currencies }: ScanContext, rules: JudgeRules): Promise<boolean> {
  const accepted = currencies.list.filter(({ retired }) => !retired)
  const agreed = accepted.filter(({ asset, decimals }) => {
    return asset.kind === 'trc20' && rules.decimals.get(asset.contract) === decimals
  })
  const held = await selectHeldAgain(db, { accepted, agreed: agreed.map(({ cuy }) => cuy), max: heldMax })
  if (held.length === 0) return false
  const owners = await matchAddresses(db, [...new Set(held.flatMap(({ from, to }) => [from, to]))])
  const decided = held.flatMap((stored) => {
    const transfer = transferOf(stored, currencies)
    const judged = transfer === null ? null : judgeTransfer(transfer, stored.block, owners, rules)
    return judged === null || judged === 'early' ? [] : [judged]
  })
  await storeTransfers(db, decided, clock.now())
  return true
}

/** The transfer as the chain had it, or null where its currency is not configured. */
function transferOf(stored: StoredTransfer, currencies: Currencies): ChainTransfer | null {
  const { txid, position, from, to, raw, native, cuy } = stored
  const asset = currencies.byId.get(cuy)?.asset
  if (asset === undefined) return null
  return {
    txid,
    position,
    asset: native || asset.kind === 'native' ? nativeAsset : trc20Asset(asset.contract),
    from,
    to,
    amount: raw,
  }
}
