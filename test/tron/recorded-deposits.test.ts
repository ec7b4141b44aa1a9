import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, it } from 'vitest'
import type { AddressOwner } from '../../src/addresses/address-book.ts'
import type { Address } from '../../src/chain/address.ts'
import { trc20Asset } from '../../src/chain/asset.ts'
import type { Block, BlockHeight, Receipt, Transaction } from '../../src/chain/block.ts'
import { formatQuantity } from '../../src/chain/quantity.ts'
import type { Uid } from '../../src/common/ids.ts'
import { assignOwners, detectTransfers, type OwnedCandidate } from '../../src/deposits/detect-transfers.ts'
import { nativeTransfer, proveTransfer, type TransferFault } from '../../src/deposits/trx.ts'
import { verifyDeposit } from '../../src/deposits/verify-deposit.ts'
import { type Currency, indexCurrencies } from '../../src/ledger/currencies.ts'
import { parseBriefBlock, parseTransaction } from '../../src/tron/parse/block.ts'
import { isObject } from '../../src/tron/parse/fields.ts'
import { parseLogs } from '../../src/tron/parse/log.ts'
import { parseReceipt } from '../../src/tron/parse/receipt.ts'
import {
  firstUserAddress,
  recordedResult,
  recordedToken,
  recording,
  recordingNames,
  secondUserAddress,
  unwrap,
} from '../recordings/recordings.ts'
import * as shipped from '../support/currencies.ts'

const minDeposit = 1_000_000n
const trx: Currency = { ...shipped.trx, minDeposit }
const usdt: Currency = { ...shipped.usdt, asset: trc20Asset(recordedToken), minDeposit }
const currencies = indexCurrencies([trx, usdt])
const owner = (uid: number): AddressOwner => ({ uid: uid as Uid, issuedHeight: 0 as BlockHeight })
const owners: ReadonlyMap<Address, AddressOwner> = new Map([
  [firstUserAddress, owner(1)],
  [secondUserAddress, owner(2)],
  ['32ab5167665722351b42cfa8302a81b695bb6639' as Address, owner(4)], // safe: 40 hex digits
])

/** By type: its number, whether it looks like a TRX transfer, and its `value` in JSON-RPC (PROTOCOL.md, Contract types). */
const contractTypes: Readonly<Record<string, readonly [number, 'looks like TRX' | 'not a candidate', string]>> = {
  AccountCreateContract: [0, 'not a candidate', '0x0'],
  TransferContract: [1, 'looks like TRX', '0x3567e0'],
  TransferAssetContract: [2, 'looks like TRX', '0x4c4b40'],
  VoteWitnessContract: [4, 'looks like TRX', '0xc'],
  WitnessCreateContract: [5, 'not a candidate', '0x253fca1c0'],
  AssetIssueContract: [6, 'not a candidate', '0x3d090000'],
  WitnessUpdateContract: [8, 'not a candidate', '0x0'],
  ParticipateAssetIssueContract: [9, 'not a candidate', '0x0'],
  AccountUpdateContract: [10, 'not a candidate', '0x0'],
  FreezeBalanceContract: [11, 'looks like TRX', '0x6acfc0'],
  UpdateAssetContract: [15, 'not a candidate', '0x0'],
  ProposalCreateContract: [16, 'not a candidate', '0x0'],
  ProposalApproveContract: [17, 'not a candidate', '0x0'],
  ProposalDeleteContract: [18, 'not a candidate', '0x0'],
  SetAccountIdContract: [19, 'not a candidate', '0x0'],
  CreateSmartContract: [30, 'not a candidate', '0x0'],
  TriggerSmartContract: [31, 'not a candidate', '0x0'],
  UpdateSettingContract: [33, 'not a candidate', '0x0'],
  ExchangeCreateContract: [41, 'not a candidate', '0x3d090000'],
  ExchangeInjectContract: [42, 'not a candidate', '0x2faf080'],
  ExchangeWithdrawContract: [43, 'not a candidate', '0x4c4b40'],
  ExchangeTransactionContract: [44, 'not a candidate', '0xf4240'],
  AccountPermissionUpdateContract: [46, 'not a candidate', '0x5f5e100'],
  ClearABIContract: [48, 'not a candidate', '0x0'],
  UpdateBrokerageContract: [49, 'not a candidate', '0x0'],
  FreezeBalanceV2Contract: [54, 'not a candidate', '0x0'],
  UnfreezeBalanceV2Contract: [55, 'not a candidate', '0x0'],
  DelegateResourceContract: [57, 'not a candidate', '0x0'],
  UnDelegateResourceContract: [58, 'not a candidate', '0x0'],
}

const contractTypeRows = Object.entries(contractTypes).map(
  ([name, [type, look, value]]) => [name, type, look, value] as const,
)

/** What each recorded transaction of the block pays: user, currency, chain units and outcome. */
const payments: Readonly<Record<string, readonly string[]>> = {
  'contract-types/TransferContract': ['1 TRX 3500000 credited'],
  'contract-types/TransferAssetContract': ['1 TRX 5000000 refused'],
  'contract-types/AccountCreateContract': [],
  'transactions/call-that-forwards-trx': [], // an internal transaction: JSON-RPC does not show it
  'transactions/call-that-forwards-trx-and-trc-20': ['1 USDT 20000000 credited'],
  'transactions/failed-call-with-trx-value': [],
  'transactions/fake-usdt-transfer': [],
  'transactions/log-without-topics-and-transfer-log-of-any-contract': [],
  'transactions/trc-20-below-the-minimum': ['1 USDT 500000 below-minimum'],
  'transactions/trc-20-from-a-contract-to-two-users': ['1 USDT 14000000 credited', '2 USDT 15000000 credited'],
  'transactions/trc-20-of-2-to-the-power-of-53-units': ['4 USDT 9007199254740992 too-large'],
  'transactions/trc-20-to-two-users': ['1 USDT 12000000 credited', '2 USDT 13000000 credited'],
  'transactions/trc-20-transfer': ['1 USDT 25000000 credited'],
  'transactions/trc-20-transfer-from-by-a-third-party': ['1 USDT 16000000 credited'],
  'transactions/trc-20-transfer-from-of-zero': [],
  'transactions/trc-20-transfer-reverted': [],
  'transactions/trc-20-transfer-then-out-of-energy': [],
  'transactions/trc-20-transfer-then-out-of-time': [],
  'transactions/trc-20-twice-to-one-user': ['1 USDT 10000000 credited', '1 USDT 11000000 credited'],
  'transactions/trc-20-with-the-smallest-digit': ['1 USDT 1000001 credited'],
  'transactions/trc-721-log-of-an-accepted-token': [],
  'transactions/trx-with-a-memo': ['1 TRX 2000000 credited'],
  'transactions/trx-with-two-signatures': ['1 TRX 1250000 credited'],
}

/** Unusual encodings, with the amount in sun (PROTOCOL.md, Transaction bytes). */
const oddEncodings: Readonly<Record<string, bigint>> = {
  'odd-encodings/usual-encoding': 1_000_001n,
  'odd-encodings/amount-twice': 1_000_002n,
  'odd-encodings/recipient-twice-ours-last': 1_000_003n,
  'odd-encodings/recipient-twice-ours-first': 1_000_004n,
  'odd-encodings/amount-as-a-padded-varint': 1_000_007n,
  'odd-encodings/unknown-field-in-the-transfer': 1_000_005n,
  'odd-encodings/fields-in-reverse-order': 1_000_006n,
  'odd-encodings/type-url-without-a-host': 1_000_008n,
  'odd-encodings/type-url-of-another-host': 1_000_009n,
  'odd-encodings/unknown-field-in-raw-data': 1_000_011n,
  'odd-encodings/provider-and-contract-name': 1_000_012n,
  'odd-encodings/scripts-and-fee-limit': 1_000_013n,
  'odd-encodings/unknown-field-in-the-parameter': 1_000_018n,
  'odd-encodings/unknown-field-in-the-contract': 1_000_019n,
}

/** The transaction, receipt and bytes of a recording, read by the service's own parsers. */
function read(name: string): { transaction: Transaction; receipt: Receipt | null; rawData: Uint8Array | null } {
  const value = recordedResult(name)
  const transaction = isObject(value) ? parseTransaction(value) : null
  if (transaction === null) throw new Error(`no transaction: ${name}`)
  const calls = recording(name)
  const isReceipt = isObject(calls[1]?.request) && calls[1].request.method === 'eth_getTransactionReceipt'
  const receipt = isReceipt ? unwrap(parseReceipt(recordedResult(name, 1), transaction.txid)) : null
  const reply = calls.find(({ path }) => path !== undefined)?.response
  const hex = isObject(reply) && typeof reply.raw_data_hex === 'string' ? reply.raw_data_hex : null
  return { transaction, receipt, rawData: hex === null ? null : hexToBytes(hex) }
}

/** What the bytes of a recorded transaction prove: an amount in sun, or why they prove nothing. */
function proofOf(name: string): bigint | TransferFault | 'no bytes' {
  const { rawData } = read(name)
  if (rawData === null) return 'no bytes'
  const proof = proveTransfer(rawData)
  return proof.ok ? proof.value.amount : proof.error
}

describe('a recorded transaction of each contract type', () => {
  it('is in the table', () => {
    expect(new Set(contractTypeRows.map(([name]) => `contract-types/${name}`))).toEqual(
      new Set(recordingNames('contract-types/')),
    )
  })

  it.each(contractTypeRows)('%s (type %d): %s, value %s', (name, _, look, value) => {
    const { transaction, receipt } = read(`contract-types/${name}`)
    expect(nativeTransfer(transaction) === null ? 'not a candidate' : 'looks like TRX').toBe(look)
    expect(transaction.value).toBe(value)
    expect(receipt?.succeeded).toBe(true) // a system contract that fails is never mined
  })

  it.each(contractTypeRows.filter(([name]) => name !== 'TransferContract' && name !== 'AssetIssueContract'))(
    '%s (type %d) is refused by its bytes',
    (name, type) => {
      expect(proofOf(`contract-types/${name}`)).toEqual({ kind: 'other-contract', type })
    },
  )

  it('is proven by its bytes if it is a TransferContract, and nothing was recorded for AssetIssueContract', () => {
    expect(proofOf('contract-types/TransferContract')).toBe(3_500_000n)
    expect(proofOf('contract-types/AssetIssueContract')).toBe('no bytes')
  })
})

describe('a recorded block of 29 transactions', () => {
  const names = Object.keys(payments)
  const brief = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
  const { logs } = unwrap(parseLogs(recordedResult('blocks/logs-of-the-block-of-29-transactions'), brief))
  const block: Block = { ...brief, transactions: names.map((name) => read(name).transaction), logs }
  const { candidates } = assignOwners(detectTransfers([block], currencies), owners, new Set())

  it('has all recorded transactions in the table', () => {
    expect(names).toEqual(expect.arrayContaining([...recordingNames('transactions/')]))
  })

  it.each(names)('%s is at its own index, with the logs of its receipt', (name) => {
    const { transaction, receipt } = read(name)
    expect(recordedResult(name)).toMatchObject({
      transactionIndex: formatQuantity(brief.indexes.get(transaction.txid) ?? -1),
    })
    expect(receipt?.block).toEqual({ height: brief.height, hash: brief.hash })
    expect(logs.filter(({ txid }) => txid === transaction.txid)).toEqual(receipt?.logs)
  })

  it.each(Object.entries(payments))('%s pays %j', (name, expected) => {
    const { transaction, receipt, rawData } = read(name)
    const own = candidates.filter(({ candidate }) => candidate.txid === transaction.txid)
    const outcomeOf = (owned: OwnedCandidate) => {
      const evidence = { receipt: receipt ?? 'disagreement', bytes: rawData ?? 'no-api', decimals: 6 } as const
      const verdict = verifyDeposit(owned, evidence)
      const outcome = verdict.kind === 'proven' ? verdict.deposits.map((one) => one.outcome).join() : verdict.kind
      return `${owned.uid} ${owned.candidate.currency.symbol} ${owned.candidate.raw} ${outcome}`
    }
    expect(own.map(outcomeOf)).toEqual(expected)
  })

  it.each([
    'transactions/failed-call-with-trx-value',
    'transactions/trc-20-transfer-reverted',
    'transactions/trc-20-transfer-then-out-of-energy',
    'transactions/trc-20-transfer-then-out-of-time',
  ])('%s has a receipt that failed and has no logs', (name) => {
    expect(read(name).receipt).toMatchObject({ succeeded: false, logs: [] })
  })

  it.each(names)('%s: the bytes hash to its txid', (name) => {
    const { transaction, rawData } = read(name)
    expect(rawData !== null && bytesToHex(sha256(rawData))).toBe(transaction.txid)
  })
})

describe('a recorded TRX transfer in an unusual encoding, which java-tron mined and paid', () => {
  it('is in the table', () => {
    expect(new Set(Object.keys(oddEncodings))).toEqual(new Set(recordingNames('odd-encodings/')))
  })

  it.each(recordingNames('odd-encodings/'))('%s: the bytes hash to the txid, and it looks like TRX', (name) => {
    const { transaction, rawData } = read(name)
    expect(nativeTransfer(transaction)).not.toBeNull()
    expect(rawData !== null && bytesToHex(sha256(rawData))).toBe(transaction.txid)
  })

  it.each(Object.entries(oddEncodings))('%s is proven: %d sun, as JSON-RPC shows it', (name, amount) => {
    const { transaction, rawData } = read(name)
    const { from: owner, to } = transaction
    expect(rawData !== null && proveTransfer(rawData)).toEqual({ ok: true, value: { owner, to, amount } })
    expect(BigInt(transaction.value)).toBe(amount)
  })
})
