import { describe, expect, it } from 'vitest'
import type { Log } from '../../src/worker/chain/block.ts'
import type { ChainTransfer } from '../../src/worker/chain/chain.ts'
import { type ParsedBlock, parseBlock, parseBlocks, parseBriefBlock } from '../../src/worker/tron/parse/block.ts'
import { isObject } from '../../src/worker/tron/parse/fields.ts'
import { parseBlockLogs, tokenTransfers } from '../../src/worker/tron/parse/log.ts'
import mainnetText from '../recordings/mainnet/block-of-619-transactions.txt?raw'
import {
  firstUserAddress,
  recordedResult,
  recordedToken,
  recording,
  recordingNames,
  unwrap,
} from '../recordings/recordings.ts'

/**
 * Contract types by the names of their recordings: the type's number, and whether it names a
 * target.
 */
const contractTypes: Readonly<Record<string, readonly [number, 'a target' | 'none']>> = {
  AccountCreateContract: [0, 'a target'],
  TransferContract: [1, 'a target'],
  TransferAssetContract: [2, 'a target'],
  VoteWitnessContract: [4, 'none'],
  WitnessCreateContract: [5, 'none'],
  WitnessUpdateContract: [8, 'none'],
  ParticipateAssetIssueContract: [9, 'a target'],
  AccountUpdateContract: [10, 'none'],
  FreezeBalanceContract: [11, 'a target'],
  UpdateAssetContract: [15, 'none'],
  ProposalCreateContract: [16, 'none'],
  ProposalApproveContract: [17, 'none'],
  ProposalDeleteContract: [18, 'none'],
  SetAccountIdContract: [19, 'none'],
  CreateSmartContract: [30, 'none'],
  TriggerSmartContract: [31, 'a target'],
  UpdateSettingContract: [33, 'a target'],
  ExchangeCreateContract: [41, 'none'],
  ExchangeInjectContract: [42, 'none'],
  ExchangeWithdrawContract: [43, 'none'],
  ExchangeTransactionContract: [44, 'none'],
  AccountPermissionUpdateContract: [46, 'none'],
  ClearABIContract: [48, 'a target'],
  UpdateBrokerageContract: [49, 'none'],
  FreezeBalanceV2Contract: [54, 'none'],
  UnfreezeBalanceV2Contract: [55, 'none'],
  DelegateResourceContract: [57, 'a target'],
  UnDelegateResourceContract: [58, 'a target'],
}

/**
 * The transfers to users in each recorded transaction of block 122, as `user asset amount`, in
 * smallest units.
 */
const payments: Readonly<Record<string, readonly string[]>> = {
  'contract-types/TransferContract': ['1 TRX 3500000'],
  'contract-types/TransferAssetContract': [], // a TRC-10 token: JSON-RPC shows it like TRX
  'contract-types/AccountCreateContract': [],
  'transactions/call-that-forwards-trx': [], // TRX in an internal transaction, which neither logs nor bytes show
  'transactions/call-that-forwards-trx-and-trc-20': ['1 token 20000000'],
  'transactions/failed-call-with-trx-value': [],
  'transactions/fake-usdt-transfer': [],
  'transactions/log-without-topics-and-transfer-log-of-any-contract': [],
  'transactions/trc-20-below-the-minimum': ['1 token 500000'],
  'transactions/trc-20-from-a-contract-to-two-users': ['1 token 14000000', '2 token 15000000'],
  'transactions/trc-20-of-2-to-the-power-of-53-units': ['4 token 9007199254740992'],
  'transactions/trc-20-to-two-users': ['1 token 12000000', '2 token 13000000'],
  'transactions/trc-20-transfer': ['1 token 25000000'],
  'transactions/trc-20-transfer-from-by-a-third-party': ['1 token 16000000'],
  'transactions/trc-20-transfer-from-of-zero': [],
  'transactions/trc-20-transfer-reverted': [],
  'transactions/trc-20-transfer-then-out-of-energy': [],
  'transactions/trc-20-transfer-then-out-of-time': [],
  'transactions/trc-20-twice-to-one-user': ['1 token 10000000', '1 token 11000000'],
  'transactions/trc-20-with-the-smallest-digit': ['1 token 1000001'],
  'transactions/trc-721-log-of-an-accepted-token': [],
  'transactions/trx-with-a-memo': ['1 TRX 2000000'],
  'transactions/trx-with-two-signatures': ['1 TRX 1250000'],
}
const users: ReadonlyMap<string, number> = new Map([
  [firstUserAddress, 1],
  ['9705bf55c3dcc6d277ebb8fe2a68762268822ba2', 2],
  ['32ab5167665722351b42cfa8302a81b695bb6639', 4],
])

/** The amount in sun of each transfer with an unusual encoding (PROTOCOL.md, Transaction bytes). */
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

/** The transaction in a recording as the HTTP API shows it. */
function apiReply(name: string): Record<string, unknown> {
  const replies = recording(name).flatMap(({ path, response }) =>
    path !== undefined && isObject(response) ? [response] : [],
  )
  const [reply] = replies.filter((one) => 'raw_data_hex' in one)
  if (reply === undefined) throw new Error(`no bytes: ${name}`)
  return { ret: [{ contractRet: 'SUCCESS' }], ...reply } // one recording lacks the result
}

/** A parsed block with these transactions. */
function blockOf(transactions: readonly unknown[], height = 1): ParsedBlock {
  const hash = `${height.toString(16).padStart(16, '0')}${'ab'.repeat(24)}`
  const rawData = { number: height, parentHash: `${(height - 1).toString(16).padStart(16, '0')}${'cd'.repeat(24)}` }
  return unwrap(parseBlock({ blockID: hash, block_header: { raw_data: rawData }, transactions }, height))
}
const only = (name: string) => {
  const [transaction] = blockOf([apiReply(name)]).transactions
  if (transaction?.result !== 'SUCCESS' || transaction.contract === null) throw new Error(`no transaction: ${name}`)
  return transaction.contract
}

describe('a recorded transaction of each contract type', () => {
  it('is in the table, but for the one without recorded bytes', () => {
    const names = recordingNames('contract-types/').filter((name) => !name.endsWith('/AssetIssueContract'))
    expect(new Set(Object.keys(contractTypes).map((name) => `contract-types/${name}`))).toEqual(new Set(names))
  })

  it.each(Object.entries(contractTypes))(
    '%s has its type, owner and target in its bytes: %j',
    (name, [type, target]) => {
      const transaction = only(`contract-types/${name}`)
      expect(transaction.type).toBe(type)
      expect(transaction.owner).toMatch(/^[0-9a-f]{40}$/)
      expect(transaction.target === null ? 'none' : 'a target').toBe(target)
      expect(transaction.amount).toBe(name === 'TransferContract' ? 3_500_000n : null)
    },
  )

  it.each(Object.keys(contractTypes))('%s has the owner that JSON-RPC shows', (name) => {
    const shown = recordedResult(`contract-types/${name}`)
    const isOfSameChain = isObject(shown) && shown.hash === `0x${apiReply(`contract-types/${name}`).txID}`
    expect(isObject(shown) && isOfSameChain ? shown.from : null).toBe(
      isOfSameChain ? `0x${only(`contract-types/${name}`).owner}` : null,
    )
  })
})

describe('recorded block 122', () => {
  const brief = unwrap(parseBriefBlock(recordedResult('blocks/block-of-29-txids')))
  const further = recording('http-api/further-transactions-of-block-122').map(({ response }) => response)
  const replies = [...Object.keys(payments).map(apiReply), ...further.filter(isObject)]
  const byTxid = new Map(replies.map((reply) => [reply.txID, reply]))
  const listed = brief.txids.flatMap((txid) => byTxid.get(txid) ?? [])
  const block = unwrap(
    parseBlock(
      {
        blockID: brief.hash,
        block_header: { raw_data: { number: 122, parentHash: brief.parentHash } },
        transactions: listed,
      },
      122,
    ),
  )
  const logs = unwrap(parseBlockLogs(recordedResult('blocks/logs-of-the-block-of-29-transactions'), block))
  const tokens = tokenTransfers(logs, new Set([recordedToken]))

  it('has all recorded transactions in the table, in the order of the chain', () => {
    expect(Object.keys(payments)).toEqual(expect.arrayContaining([...recordingNames('transactions/')]))
    // the last transaction has no recording
    expect(block.transactions.map(({ txid }) => txid)).toEqual(brief.txids.slice(0, 28))
  })

  it.each(Object.entries(payments))('%s pays %j', (name, expected) => {
    const txid = apiReply(name).txID
    const transaction = block.transactions.find((one) => one.txid === txid)
    const { amount, target } = transaction?.contract ?? { amount: null, target: null }
    const trx = amount === null ? [] : [`${users.get(target ?? '') ?? 'others'} TRX ${amount}`]
    const own = tokens.filter((one) => one.txid === txid)
    expect([...trx, ...own.map(({ to, amount: units }: ChainTransfer) => `${users.get(to)} token ${units}`)]).toEqual(
      expected,
    )
    expect(own.map(({ position }) => position)).toEqual(own.map((_, i) => i))
  })

  it('has logs of successful transactions only, each at its place in its transaction', () => {
    const places = new Map<string, number[]>()
    for (const { txid, position } of logs) places.set(txid, [...(places.get(txid) ?? []), position])
    expect([...places.values()]).toEqual([...places.values()].map((own) => own.map((_, i) => i)))
    const failed = block.transactions.filter(({ result }) => result !== 'SUCCESS').map(({ txid }) => txid)
    expect(failed).toHaveLength(6)
    expect(logs.filter(({ txid }: Log) => failed.includes(txid))).toEqual([])
  })
})

describe('a recorded TRX transfer in an unusual encoding, which java-tron mined and paid', () => {
  it('is in the table', () => {
    expect(new Set(Object.keys(oddEncodings))).toEqual(new Set(recordingNames('odd-encodings/')))
  })

  it.each(Object.entries(oddEncodings))('%s pays %d sun, as JSON-RPC shows it', (name, amount) => {
    const shown = recordedResult(name)
    expect(only(name)).toMatchObject({ type: 1, amount })
    expect(isObject(shown) && [shown.from, shown.to, BigInt(String(shown.value))]).toEqual([
      `0x${only(name).owner}`,
      `0x${only(name).target}`,
      amount,
    ])
  })
})

describe('a recorded range of blocks', () => {
  const replies = recording('http-api/ranges-of-blocks').map(({ response }) => response)

  it('has blocks that follow each other, the first one without transactions', () => {
    const { blocks, fault } = unwrap(parseBlocks(replies[0], 227, 2))
    expect(fault).toBeNull()
    expect(blocks.map(({ header, transactions }) => [header.height, transactions.length > 0])).toEqual([
      [227, false],
      [228, true],
    ])
  })

  it('ends at the head, and is empty for an empty range and for more than 100 blocks', () => {
    expect(unwrap(parseBlocks(replies[1], 228, 90)).blocks.map(({ header }) => header.height)).toEqual([228])
    expect(unwrap(parseBlocks(replies[2], 5, 100)).blocks).toEqual([])
    expect(unwrap(parseBlocks(replies[3], 1, 100)).blocks).toEqual([])
  })
})

/** The decoded part of a transaction in the HTTP API, which the service itself does not read. */
interface ShownTransaction {
  readonly raw_data: {
    readonly contract: { readonly type: string; readonly parameter: { readonly value: Record<string, unknown> } }[]
  }
}

describe("mainnet's block of 619 transactions", () => {
  const mainnet = JSON.parse(mainnetText) as { block: { transactions: ShownTransaction[] }[] }
  const { blocks, fault } = unwrap(parseBlocks(mainnet, 79_072_107, 1))
  const transactions = blocks[0]?.transactions ?? []

  it('is read: the bytes of each transaction hash to its txid', () => {
    expect(fault).toBeNull()
    expect(blocks[0]?.header).toMatchObject({ height: 79_072_107, timestamp: 1_767_879_414_000 })
    expect(transactions).toHaveLength(619)
  })

  it('has the types, owners and amounts that the node shows', () => {
    const shown = mainnet.block[0]?.transactions.map(({ raw_data: { contract } }) => {
      const value: Readonly<Record<string, unknown>> = contract[0]?.parameter.value ?? {}
      const isTransfer = contract[0]?.type === 'TransferContract'
      return [value.owner_address, isTransfer ? [value.to_address, value.amount] : null]
    })
    const read = transactions.map(({ contract }) => [
      `41${contract?.owner}`,
      contract?.amount == null ? null : [`41${contract.target}`, Number(contract.amount)],
    ])
    expect(read).toEqual(shown)
    expect(read.filter(([, transfer]) => transfer !== null)).toHaveLength(230)
  })
})
