import { describe, expect, it } from 'vitest'
import { formatPosition, type Txid } from '../../../src/worker/chain/block.ts'
import { parseInternals } from '../../../src/worker/tron/parse/internal.ts'
import { recording, unwrap } from '../../recordings/recordings.ts'

interface Info {
  readonly id: Txid
  readonly blockNumber: number
}

/**
 * The transfers in each transaction info of a recording, as `position recipient amount`: the
 * address's last four digits, and sun.
 */
const paidIn = (name: string) =>
  recording(`internal-transactions/${name}`).map(({ response }) => {
    const info = response as Info // safe: recorded by a real node
    const { transfers } = unwrap(parseInternals(info, info.id, info.blockNumber))
    return transfers.map(({ position, to, amount }) => `${formatPosition(position)} ${to.slice(-4)} ${amount}`)
  })

const txid = 'a'.repeat(64) as Txid // safe: 64 hex digits
const address = (digit: string) => `41${digit.repeat(40)}`
const call = (over: object = {}) => ({
  hash: 'f'.repeat(64),
  caller_address: address('1'),
  transferTo_address: address('2'),
  note: '63616c6c',
  callValueInfo: [{ callValue: 5 }],
  ...over,
})
const parse = (items: unknown, over: object = {}) =>
  parseInternals({ id: txid, blockNumber: 9, internal_transactions: items, ...over }, txid, 9)

describe('recorded internal transactions', () => {
  it('of calls that pay are transfers with their places', () => {
    expect(paidIn('calls-that-pay')).toEqual([
      ['i0 47af 1000001'],
      ['i0 47af 1000004'],
      ['i0 ad57 1000006'],
      ['i0 47af 100', 'i1 0022 101', 'i2 47af 100', 'i4 47af 102'],
      ['i0 47af 77', 'i1 47af 77'],
      expect.arrayContaining(['i1 47af 1000010', 'i2 47af 7']),
      ['i1 47af 1000018'],
      ['i0 47af 1000022'],
      ['i1 47af 1000013'],
      [],
    ])
  })

  it('that are undone pay nothing, and count in the places of what comes after', () => {
    expect(paidIn('parts-that-are-undone')).toEqual([
      ['i0 47af 3', 'i3 47af 4'],
      ['i0 47af 3', 'i3 47af 4'],
      ['i2 47af 1'],
      [],
      [],
      [],
      [],
      [],
    ])
  })

  it('of contracts that end are what they leave in TRX', () => {
    expect(paidIn('contracts-that-end').slice(0, 3)).toEqual([
      ['i1 47af 10'],
      [expect.stringMatching(/^i0 .... 1000040$/)],
      expect.arrayContaining([expect.stringMatching(/^i1 .... 1000$/), expect.stringMatching(/^i3 .... 9$/)]),
    ])
    expect(paidIn('contracts-that-end')[5]).toEqual([expect.stringMatching(/^i0 .... 1000031$/)])
  })

  it('without TRX are no transfers, and a contract that pays itself pays nobody else', () => {
    expect(paidIn('no-trx').slice(0, 4)).toEqual([[], [], [], []])
  })

  it('of two honest nodes say the same, although one shows delegations between the calls', () => {
    const [plain, featured] = recording('internal-transactions/delegations-between-calls').map(({ response }) => {
      const info = response as Info // safe: recorded by a real node
      return unwrap(parseInternals(info, info.id, info.blockNumber))
    })
    expect(featured).toEqual(plain)
    expect(plain?.transfers.map(({ position, amount }) => [formatPosition(position), amount])).toEqual([
      ['i0', 123n],
      ['i1', 124n],
      ['i2', 125n],
    ])
  })

  it('are none of a node that keeps none', () => {
    for (const { response } of recording('internal-transactions/node-that-keeps-none')) {
      const info = response as Info // safe: recorded by a real node
      expect(unwrap(parseInternals(info, info.id, info.blockNumber))).toEqual({ canonicalText: '', transfers: [] })
    }
  })
})

describe('internal transactions', () => {
  it('of TRX up to 2^53 − 1 sun are transfers: a double keeps no more', () => {
    const amounts = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 0, -5, 1.5, '5']
    const items = amounts.map((callValue) => call({ callValueInfo: [{ callValue }] }))
    expect(unwrap(parse(items)).transfers.map(({ amount }) => amount)).toEqual([BigInt(Number.MAX_SAFE_INTEGER)])
  })

  it.each([
    ['a token alone', { callValueInfo: [{ callValue: 5, tokenId: '1000001' }] }],
    ['no value', { callValueInfo: undefined }],
    ['a value that is no list', { callValueInfo: { callValue: 5 } }],
    ['a note that creates a contract', { note: '637265617465' }],
    ['an unknown note', { note: '667265657a6542616c616e6365563246' }],
    ['no note', { note: undefined }],
    ['a part that is undone', { rejected: true }],
    ['no recipient', { transferTo_address: undefined }],
    ['a recipient that is no address', { transferTo_address: '41ab' }],
  ])('with %s is no transfer', (_, over) => {
    expect(unwrap(parse([call(over)])).transfers).toEqual([])
  })

  it.each([null, 0, 1, 'true', {}])(
    'with %j for whether they are undone are a bad answer: money must not be guessed',
    (rejected) => {
      expect(parse([call({ rejected })]).ok).toBe(false)
    },
  )

  it('have the place among those that count: calls, contracts that are created and those that end', () => {
    const other = call({ note: '766f7465' })
    const items = [
      other,
      call({ note: '637265617465' }),
      other,
      call({ rejected: true }),
      call({ note: '73756963696465' }),
    ]
    expect(unwrap(parse(items)).transfers.map(({ position }) => formatPosition(position))).toEqual(['i2'])
  })

  it.each([
    ['sender', { caller_address: address('3') }],
    ['recipient', { transferTo_address: address('3') }],
    ['amount', { callValueInfo: [{ callValue: 6 }] }],
    ['note', { note: '73756963696465' }],
    ['part that is undone', { rejected: true }],
  ])('say something else with another %s', (_, over) => {
    expect(unwrap(parse([call(over)])).canonicalText).not.toBe(unwrap(parse([call()])).canonicalText)
  })

  it.each([
    ['another transaction', { id: 'b'.repeat(64) }],
    ['another block', { blockNumber: 10 }],
    ['no block', { blockNumber: undefined }],
  ])('in the info of %s are a fault of the node', (_, over) => {
    expect(parse([call()], over)).toEqual({ ok: false, error: 'the info of another transaction' })
  })

  it.each([7, 'x', {}, [7], [null]])('that are %j are a fault of the node', (items) => {
    expect(parse(items).ok).toBe(false)
  })

  it.each([7, null, []])('in %j are a fault of the node', (value) => {
    expect(parseInternals(value, txid, 9).ok).toBe(false)
  })

  it('of a node without the transaction are none', () => {
    expect(unwrap(parseInternals({}, txid, 9))).toEqual({ canonicalText: '', transfers: [] })
  })
})
