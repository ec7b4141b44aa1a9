import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import 'tronweb' // sets the protocol's generated parsers on globalThis
import { type ContractName, contractSpecs, isContractName } from '../support/contracts.ts'
import { encodeEmbedded } from './embedded.ts'
import { encodeRaw } from './encode-transaction.ts'
import { toTron } from './transaction.ts'

const owner = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
const target = 'e2e1a54926527fbb4e4420de4c6bab82beaee24d'
const memo = 'c0ffee12'.repeat(8)
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

/** A transaction of `type` with 2.5 whole units, as the chain has it. */
function sample(type: ContractName, amount = 2_500_000n) {
  const raw = encodeRaw(type, { owner, target, amount, code: 'a9059cbb' }, memo, 1_790_000_000_000)
  const carried = { rawHex: Buffer.from(raw).toString('hex'), signature: '00'.repeat(65), settlement: null }
  return toTron({ hash: '0x1', input: `0xa9059cbb${encodeEmbedded(carried)}` })
}
const parsed = (rawHex: string) => protocol.Transaction.raw.deserializeBinary(Buffer.from(rawHex, 'hex'))
const parameterOf = (rawHex: string) => parsed(rawHex).getContractList()[0]?.getParameter()

/** A value of the HTTP API's JSON as tronweb's parsers return it: they return bytes as Base64. */
function asParsed(value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value, 'hex').toString('base64') : value
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

describe('the raw bytes', () => {
  it.each(types)('of a %s hash to the txid, and contain the type and the memo', (type) => {
    const tron = sample(type)
    expect(tron.type).toBe(type)
    expect(createHash('sha256').update(Buffer.from(tron.rawHex, 'hex')).digest('hex')).toBe(tron.txid)
    const raw = parsed(tron.rawHex)
    expect(Buffer.from(raw.getData_asU8()).toString('hex')).toBe(memo)
    const [contract] = raw.getContractList()
    expect(contract?.getType()).toBe(contractSpecs[type].id)
    expect(contract?.getParameter().getTypeUrl()).toBe(`type.googleapis.com/protocol.${type}`)
  })

  it.each(types.filter((type) => !unsupported.has(type)))(
    'of a %s have the same content for tronweb as the JSON',
    (type) => {
      const tron = sample(type)
      const json = JSON.parse(JSON.stringify(tron.rawJson)) as {
        contract: [{ type: string; parameter: { value: Record<string, unknown> } }]
      } // its own JSON, read as it was written
      expect(json.contract[0].type).toBe(type)
      const { value } = json.contract[0].parameter
      const bytes = parameterOf(tron.rawHex)?.getValue_asU8() ?? new Uint8Array()
      const read = protocol[type]?.deserializeBinary(bytes).toObject()
      const plain = Object.entries(value).filter(([, content]) => typeof content !== 'object')
      expect(plain.length).toBeGreaterThan(0)
      for (const [name, content] of plain) expect([name, read?.[camel(name)]]).toStrictEqual([name, asParsed(content)])
    },
  )

  it('of a vote and of a contract creation contain the nested messages', () => {
    const inner = (type: ContractName) => {
      const bytes = parameterOf(sample(type).rawHex)?.getValue_asU8() ?? new Uint8Array()
      return protocol[type]?.deserializeBinary(bytes).toObject()
    }
    const voteAddress = asParsed(`41${target}`)
    expect(inner('VoteWitnessContract')).toMatchObject({ votesList: [{ voteAddress, voteCount: 2_500_000 }] })
    const newContract = { originAddress: asParsed(`41${owner}`), bytecode: asParsed('a9059cbb'), callValue: 2_500_000 }
    expect(inner('CreateSmartContract')).toMatchObject({ newContract })
  })

  it('contain every digit of an amount above 2^53, and so does the JSON', () => {
    const tron = sample('TransferContract', 2n ** 63n - 1n)
    expect(JSON.stringify(tron.rawJson)).toContain('"amount":9223372036854775807')
    expect(tron.rawHex).toContain('18ffffffffffffffff7f') // field 3, the varint of 2^63-1
  })
})
