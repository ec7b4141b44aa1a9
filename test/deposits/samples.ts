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
/**
 * Alice and Bob as the owners of their addresses, which were issued when block 69 was the newest
 * final block.
 */
export const owners: ReadonlyMap<Address, AddressOwner> = new Map(
  [alice, bob].map(({ uid, address }) => [address, { uid, issuedHeight: 69 as BlockHeight, isForOrders: false }]),
)

/** All samples are in the block of this height. */
export const height = 70 as BlockHeight
export const header: Header = {
  height,
  hash: '70'.repeat(32) as BlockHash,
  parentHash: '69'.repeat(32) as BlockHash,
  timestamp: 1_700_000_000_000 as UnixMs,
}
const txid = '01'.repeat(32) as Txid

/** Rules with the shipped currencies, agreed decimals of USDT, and one operator's address. */
export const rules: JudgeRules = {
  currencies,
  operators: { listed: new Set([operator]), since: new Map(), otherPayers: new Set() },
  decimals: new Map([[usdtAddress, 6]]),
  payers: new Map(),
  sharedPayers: [],
}

/** A transfer of 1 TRX from a stranger to Alice; `over` replaces parts. */
export const trxTransfer = (over: Partial<ChainTransfer> = {}): ChainTransfer => ({
  txid,
  position: 0,
  asset: nativeAsset,
  from: stranger,
  to: alice.address,
  amount: 1_000_000n,
  ...over,
})

/** A transfer of 1 USDT from a stranger to Alice; `over` replaces parts. */
export const usdtTransfer = (over: Partial<ChainTransfer> = {}): ChainTransfer =>
  trxTransfer({ asset: trc20Asset(usdtAddress), ...over })

/** The Transfer event of 1 USDT from a stranger to Alice; `over` replaces parts. */
export const log = (
  over: Partial<Log> & { readonly from?: Address; readonly to?: Address; readonly raw?: bigint } = {},
): Log => {
  const { from = stranger, to = alice.address, raw = 1_000_000n, contract = usdtAddress, ...rest } = over
  return { txid, position: 0, ...transferLog(contract, from, to, raw), ...rest }
}

/**
 * What nodes say about a stranger's TRX transaction to Alice that contains no transfer; `over`
 * replaces parts.
 */
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
