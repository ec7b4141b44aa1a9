import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { contractTypes, explainContractType } from '../../src/deposits/contract-types.ts'

// The chain's own protocol file as TronWeb contains it: it sets a global when it is loaded.
const load = createRequire(import.meta.url)
load('../../node_modules/tronweb/lib/commonjs/protocol/core/Tron_pb.cjs')
const protocol: unknown = Reflect.get(globalThis, 'TronWebProto')

function chainTypes(): readonly (readonly [string, number])[] {
  const transaction: unknown = Reflect.get(Object(protocol), 'Transaction')
  const types: unknown = Reflect.get(Object(Reflect.get(Object(transaction), 'Contract')), 'ContractType')
  return Object.entries(Object(types)).map(([name, number]) => [name, Number(number)] as const)
}

describe('a contract type', () => {
  it('of the chain’s protocol has a sentence of its own', () => {
    const types = chainTypes()
    expect(types.length).toBeGreaterThan(40)
    const unknown = types.filter(([, number]) => explainContractType(number).includes(`type ${number}`))
    expect(unknown).toEqual([])
  })

  it.each(chainTypes())('%s is explained in one sentence without a full stop', (_, number) => {
    expect(explainContractType(number)).toMatch(/^this [^.]+$/)
  })

  it('that is unknown is described by its number', () => {
    expect(explainContractType(4711)).toBe('this is a transaction of type 4711, which is not a TRX transfer')
  })

  it('that looks like a TRX transfer in a block is described by what it does', () => {
    expect(explainContractType(contractTypes.trc10)).toBe('this is a TRC-10 token transfer, not TRX')
    expect(explainContractType(12)).toContain('returns to its sender')
  })
})
