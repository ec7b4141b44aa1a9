import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import 'tronweb' // sets the protocol's generated parsers on globalThis
import { type ContractName, contractSpecs, isContractName } from '../support/contracts.ts'
import { toTransactionObject } from './eth-to-tron.ts'
import { encodeSynthetic, syntheticRecipient } from './synthetic-transaction.ts'
import { type EvmTransaction, toTron } from './transaction.ts'

const owner = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
const target = 'e2e1a54926527fbb4e4420de4c6bab82beaee24d'
const evmTypes = new Set<ContractName>(['TransferContract', 'CreateSmartContract', 'TriggerSmartContract'])
const types = Object.keys(contractSpecs).filter(isContractName)
/** Disabled on mainnet and unsupported by tronweb: only their number and hash are checked. */
const unsupported = new Set<ContractName>([
  'ShieldedTransferContract',
  'MarketSellAssetContract',
  'MarketCancelOrderContract',
])

interface Parser {
  deserializeBinary(bytes: Uint8Array): { toObject(): Record<string, unknown> }
}
interface RawParser {
  deserializeBinary(bytes: Uint8Array): {
    getData_asU8(): Uint8Array
    getContractList(): { getType(): number; getParameter(): { getTypeUrl(): string; getValue_asU8(): Uint8Array } }[]
  }
}
const protocol = (
  globalThis as unknown as { TronWebProto: Record<string, Parser> & { Transaction: { raw: RawParser } } }
).TronWebProto // tronweb's own name for them

function evmTransaction(given: Partial<EvmTransaction>): EvmTransaction {
  return {
    hash: `0x${'c0ffee12'.repeat(8)}`,
    from: `0x${owner}`,
    to: `0x${target}`,
    value: '0x0',
    input: '0x',
    nonce: '0x5',
    r: '0x1',
    s: '0x2',
    blockHash: null,
    blockNumber: null,
    transactionIndex: null,
    ...given,
  }
}

/** The EVM transaction that represents a Tron transaction of `type` with 2.5 whole units. */
function sample(type: ContractName): EvmTransaction {
  if (type === 'TransferContract') return evmTransaction({ value: '0x2625a0' })
  if (type === 'TriggerSmartContract') return evmTransaction({ value: '0x2625a0', input: '0xa9059cbb' })
  if (type === 'CreateSmartContract') return evmTransaction({ value: '0x2625a0', input: '0x6000', to: null })
  return evmTransaction({ to: syntheticRecipient, input: encodeSynthetic({ type, owner, target, amount: 2_500_000n }) })
}

/** A value of the HTTP API's JSON as tronweb's parsers return it: they return bytes as Base64. */
function asParsed(value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value, 'hex').toString('base64') : value
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

describe('the raw bytes', () => {
  it.each(types)('of a %s hash to the txid, and contain the type and the EVM hash', (type) => {
    const tron = toTron(sample(type))
    const bytes = Buffer.from(tron.rawHex, 'hex')
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(tron.txid)
    const raw = protocol.Transaction.raw.deserializeBinary(bytes)
    expect(Buffer.from(raw.getData_asU8()).toString('hex')).toBe('c0ffee12'.repeat(8))
    const [contract] = raw.getContractList()
    expect(contract?.getType()).toBe(contractSpecs[type].id)
    expect(contract?.getParameter().getTypeUrl()).toBe(`type.googleapis.com/protocol.${type}`)
  })

  it.each(types.filter((type) => !unsupported.has(type)))(
    'of a %s have the same content for tronweb as the JSON',
    (type) => {
      const tron = toTron(sample(type))
      const raw = protocol.Transaction.raw.deserializeBinary(Buffer.from(tron.rawHex, 'hex'))
      const parameter = raw.getContractList()[0]?.getParameter()
      const json = JSON.parse(JSON.stringify(tron.rawJson)) as {
        contract: [{ type: string; parameter: { value: Record<string, unknown> } }]
      } // its own JSON, read as it was written
      expect(json.contract[0].type).toBe(type)
      const { value } = json.contract[0].parameter
      const read = protocol[type]?.deserializeBinary(parameter?.getValue_asU8() ?? new Uint8Array()).toObject()
      const plain = Object.entries(value).filter(([, content]) => typeof content !== 'object')
      expect(plain.length).toBeGreaterThan(0)
      for (const [name, content] of plain) expect([name, read?.[camel(name)]]).toStrictEqual([name, asParsed(content)])
    },
  )

  it('of a vote and of a contract creation contain the nested messages', () => {
    const inner = (type: ContractName) => {
      const raw = protocol.Transaction.raw.deserializeBinary(Buffer.from(toTron(sample(type)).rawHex, 'hex'))
      const bytes = raw.getContractList()[0]?.getParameter().getValue_asU8() ?? new Uint8Array()
      return protocol[type]?.deserializeBinary(bytes).toObject()
    }
    const voteAddress = asParsed(`41${target}`)
    expect(inner('VoteWitnessContract')).toMatchObject({ votesList: [{ voteAddress, voteCount: 2_500_000 }] })
    const newContract = { originAddress: asParsed(`41${owner}`), bytecode: asParsed('6000'), callValue: 2_500_000 }
    expect(inner('CreateSmartContract')).toMatchObject({ newContract })
  })

  it('are equal for the same EVM transaction and different for another one', () => {
    const again = evmTransaction({ value: '0x1', blockNumber: '0x7', blockHash: '0x01', transactionIndex: '0x0' })
    expect(toTron(again).txid).toBe(toTron(evmTransaction({ value: '0x1' })).txid)
    const other = evmTransaction({ value: '0x1', hash: `0x${'ab'.repeat(32)}` })
    expect(toTron(other).txid).not.toBe(toTron(again).txid)
  })

  it('contain every digit of an amount above 2^53, and so does the JSON', () => {
    const tron = toTron(evmTransaction({ value: '0x7fffffffffffffff' }))
    expect(JSON.stringify(tron.rawJson)).toContain('"amount":9223372036854775807')
    expect(tron.rawHex).toContain('18ffffffffffffffff7f') // field 3, the varint of 2^63-1
  })
})

const sun = '0x2625a0'
const trx = (whole: number) => `0x${(whole * 1_000_000).toString(16)}`
// PROTOCOL.md, Contract types, line by line: whether `to` is the other party, and `value`.
const rows: [ContractName, boolean, string][] = [
  ['TransferContract', true, sun],
  ['TransferAssetContract', true, sun],
  ['TriggerSmartContract', true, sun],
  ['CreateSmartContract', false, '0x0'],
  ['AccountCreateContract', true, '0x0'],
  ['VoteWitnessContract', true, sun],
  ['WitnessCreateContract', false, trx(9_999)],
  ['AssetIssueContract', false, trx(1_024)],
  ['ParticipateAssetIssueContract', true, '0x0'],
  ['FreezeBalanceContract', true, sun],
  ['UnfreezeBalanceContract', true, sun],
  ['WithdrawBalanceContract', false, sun],
  ['UnfreezeAssetContract', false, sun],
  ['ExchangeCreateContract', false, trx(1_024)],
  ['ExchangeInjectContract', false, sun],
  ['ExchangeWithdrawContract', false, sun],
  ['ExchangeTransactionContract', false, sun],
  ['AccountPermissionUpdateContract', false, trx(100)],
  ['ShieldedTransferContract', true, sun],
  ['FreezeBalanceV2Contract', false, '0x0'],
  ['UnfreezeBalanceV2Contract', false, '0x0'],
  ['WithdrawExpireUnfreezeContract', false, sun],
  ['DelegateResourceContract', true, '0x0'],
  ['UnDelegateResourceContract', true, '0x0'],
  ['CancelAllUnfreezeV2Contract', false, sun],
  ['UpdateSettingContract', true, '0x0'],
  ['UpdateEnergyLimitContract', true, '0x0'],
  ['ClearABIContract', true, '0x0'],
  ['WitnessUpdateContract', false, '0x0'],
  ['AccountUpdateContract', false, '0x0'],
  ['UpdateAssetContract', false, '0x0'],
  ['ProposalCreateContract', false, '0x0'],
  ['ProposalApproveContract', false, '0x0'],
  ['ProposalDeleteContract', false, '0x0'],
  ['SetAccountIdContract', false, '0x0'],
  ['UpdateBrokerageContract', false, '0x0'],
  ['MarketSellAssetContract', false, '0x0'],
  ['MarketCancelOrderContract', false, '0x0'],
]

describe('JSON-RPC shows', () => {
  it.each(rows)('a %s with its target (%s) and the value %s', (type, showsTarget, value) => {
    const object = toTransactionObject(toTron(sample(type)), null, null)
    expect(object).toMatchObject({ from: `0x${owner}`, to: showsTarget ? `0x${target}` : null, value })
    expect(object.input).toBe(type === 'TriggerSmartContract' ? '0xa9059cbb' : '0x')
  })

  it('all types of this table, and no other', () => {
    expect(new Set(rows.map(([type]) => type))).toStrictEqual(new Set(types))
  })

  it('nothing of the EVM transaction that represents a synthetic one', () => {
    for (const type of types.filter((name) => !evmTypes.has(name))) {
      const object = toTransactionObject(toTron(sample(type)), null, null)
      expect(JSON.stringify(object)).not.toContain(syntheticRecipient)
    }
  })
})
