import { describe, expect, it } from 'vitest'
import { readContract } from '../../src/tron/parse/contract.ts'
import { createChain } from '../support/chain-builder.ts'
import { addressOf, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'

const [from, to] = [addressOf(1), addressOf(2)]
/** Every contract type of the protocol (PROTOCOL.md, Contract types). */
const types = [
  0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 30, 31, 33, 41, 42, 43, 44, 45, 46, 48, 49, 51, 52,
  53, 54, 55, 56, 57, 58, 59,
]

describe('the chain builder', () => {
  it('builds a TRX and a TRC-10 transfer that differ only in their bytes', () => {
    const chain = createChain()
    const [trx, trc10] = chain.add([
      { kind: 'trx', from, to, amount: 5n },
      { kind: 'trc10', from, to, amount: 5n },
    ]).transactions
    const shown = ({ hash: _, transactionIndex: __, ...rest }: Record<string, unknown>) => rest
    expect(shown({ ...trx?.wire })).toEqual(shown({ ...trc10?.wire }))
    expect([trx, trc10].map((one) => readContract(one?.rawData ?? new Uint8Array()))).toMatchObject([
      { ok: true, value: { type: 1, owner: from, target: to, amount: 5n } },
      { ok: true, value: { type: 2, owner: from, target: to, amount: null } },
    ])
  })

  it.each(types)('builds readable bytes for contract type %i', (type) => {
    const [built] = createChain().add([{ kind: 'other', type, from, to, value: 7n }]).transactions
    expect(readContract(built?.rawData ?? new Uint8Array())).toMatchObject({ ok: true, value: { type } })
  })

  it('builds the same blocks for the same specs, and others for another salt or after a fork', () => {
    const specs: readonly TransactionSpec[] = [{ kind: 'token', contract: usdtAddress, from, to, amount: 1n }]
    const build = (salt: string) => {
      const chain = createChain({ salt })
      chain.add(specs)
      chain.addEmpty(2)
      return chain
    }
    const one = build('')
    expect(build('').tip().hash).toBe(one.tip().hash)
    expect(build('x').tip().hash).not.toBe(one.tip().hash)
    const fork = one.fork(one.tip().height - 1)
    fork.add(specs)
    expect(fork.tip().height).toBe(one.tip().height)
    expect(fork.tip().hash).not.toBe(one.tip().hash)
    expect(fork.tip().brief.parentHash).toBe(one.tip().brief.parentHash)
  })
})
