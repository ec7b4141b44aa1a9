import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { contractTypes, describeContractType } from '../../src/deposits/contract-types.ts'
import { proveTransfer } from '../../src/deposits/trx.ts'
import { otherBytes } from './samples.ts'

// The chain's own protocol file as TronWeb ships it: it fills a global when it is loaded.
const load = createRequire(import.meta.url)
load('../../../node_modules/tronweb/lib/commonjs/protocol/core/Tron_pb.cjs')
const protocol: unknown = Reflect.get(globalThis, 'TronWebProto')

function chainTypes(): readonly (readonly [string, number])[] {
  const transaction: unknown = Reflect.get(Object(protocol), 'Transaction')
  const types: unknown = Reflect.get(Object(Reflect.get(Object(transaction), 'Contract')), 'ContractType')
  return Object.entries(Object(types)).map(([name, number]) => [name, Number(number)] as const)
}

describe('a contract type', () => {
  it('is known by the name and number of the chain’s protocol, for every one there is', () => {
    const types = chainTypes()
    expect(types.length).toBeGreaterThan(40)
    const ours = types.map(([, number]) => [describeContractType(number).name.toUpperCase(), number])
    expect(ours).toEqual(types)
  })

  it.each(chainTypes().filter(([, number]) => number !== contractTypes.transfer))(
    '%s proves no TRX transfer',
    (name, number) => {
      expect(proveTransfer(otherBytes(number, name))).toEqual({
        ok: false,
        error: { kind: 'other-contract', type: number },
      })
      expect(describeContractType(number).why).toMatch(/^this [^.]+$/)
    },
  )

  it('that nobody knows has an answer as well', () => {
    expect(describeContractType(4711)).toEqual({
      name: 'type 4711',
      why: 'this is a transaction of type 4711, which is not a TRX transfer',
    })
  })

  it('of the fake deposits is called by what it is', () => {
    expect(describeContractType(contractTypes.trc10).why).toBe('this is a TRC-10 token transfer, not TRX')
    expect(describeContractType(12).why).toContain('back to its sender')
  })
})
