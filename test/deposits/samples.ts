import type { AddressOwner } from '../../src/worker/addresses/store/address-book.ts'
import type { Address } from '../../src/worker/chain/address.ts'
import {
  type BlockHash,
  type BlockHeight,
  type Header,
  type Log,
  nativeAsset,
  type Txid,
  trc20Asset,
} from '../../src/worker/chain/block.ts'
import type { ChainTransfer, TransactionReading } from '../../src/worker/chain/chain.ts'
import type { Uid } from '../../src/worker/common/ids.ts'
import type { UnixMs } from '../../src/worker/common/time.ts'
import type { JudgeRules } from '../../src/worker/deposits/transfer.ts'
import { currencies } from '../support/currencies.ts'
import { transferLog, usdtAddress } from '../support/transaction-spec.ts'

export const alice = { uid: 1 as Uid, address: 'a1'.repeat(20) as Address }
export const bob = { uid: 2 as Uid, address: 'b0'.repeat(20) as Address }
export const stranger = '5e'.repeat(20) as Address
export const operator = '0e'.repeat(20) as Address
export const fakeContract = 'fa'.repeat(20) as Address
/** Both addresses were issued when block 69 was final. */
export const owners: ReadonlyMap<Address, AddressOwner> = new Map(
  [alice, bob].map(({ uid, address }) => [address, { uid, issuedHeight: 69 as BlockHeight }]),
)

/** The height of the block of all samples. */
export const height = 70 as BlockHeight
export const header: Header = {
  height,
  hash: '70'.repeat(32) as BlockHash,
  parentHash: '69'.repeat(32) as BlockHash,
  timestamp: 1_700_000_000_000 as UnixMs,
}
const txid = '01'.repeat(32) as Txid

/** The rules of the shipped currencies, with one operator. */
export const rules: JudgeRules = {
  currencies,
  operators: { listed: new Set([operator]), since: new Map() },
  decimals: new Map([[usdtAddress, 6]]),
  payers: new Map(),
}

/** A transfer of 1 TRX from a stranger to Alice, with changes. */
export const trxTransfer = (over: Partial<ChainTransfer> = {}): ChainTransfer => ({
  txid,
  position: 0,
  asset: nativeAsset,
  from: stranger,
  to: alice.address,
  amount: 1_000_000n,
  ...over,
})

/** A transfer of 1 USDT from a stranger to Alice, with changes. */
export const usdtTransfer = (over: Partial<ChainTransfer> = {}): ChainTransfer =>
  trxTransfer({ asset: trc20Asset(usdtAddress), ...over })

/** A Transfer event of 1 USDT from a stranger to Alice, with changes. */
export const log = (
  over: Partial<Log> & { readonly from?: Address; readonly to?: Address; readonly raw?: bigint } = {},
): Log => {
  const { from = stranger, to = alice.address, raw = 1_000_000n, contract = usdtAddress, ...rest } = over
  return { txid, position: 0, ...transferLog(contract, from, to, raw), ...rest }
}

/** A TRX transfer of a stranger to Alice, without the transfer in it, with changes. */
export const reading = (over: Partial<TransactionReading> = {}): TransactionReading => ({
  header,
  succeeded: true,
  contractType: 1,
  owner: stranger,
  target: alice.address,
  transfers: [],
  logs: [],
  isCall: false,
  isWhole: true,
  ...over,
})
