import { describe, expect, it, test } from 'vitest'
import { cellOf, chooseCell } from '../../src/worker/cells/choose.ts'
import { cellOfObject, endpointOf, scannerOf } from '../../src/worker/cells/objects.ts'
import { cellsMax, parseCells } from '../../src/worker/cells/parse-cells.ts'
import { parseConfig } from '../../src/worker/config/config.ts'
import { otherXpubs, testVariables, testXpub } from '../support/variables.ts'
import { threeCells } from './three-cells.ts'

const db = { prepare: () => {}, batch: () => {} } as unknown as D1Database // safe: parsing never queries the database
const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

/**
 * Valid bindings for three cells. `changes` replace bindings, or remove those that are undefined in
 * it.
 */
const bindingsWith = (changes: Record<string, unknown> = {}) => ({
  ...testVariables(db),
  ...{ DB_2: db, DB_3: db, KEY_1: testXpub, KEY_2: otherXpubs[0], KEY_3: otherXpubs[1] },
  TRON_XPUB: undefined,
  CELLS: threeCells,
  ...changes,
})

const cellsOf = (bindings: Record<string, unknown>) => {
  const cells = parseCells(bindings)
  if (!cells.ok) throw new Error(cells.error.join())
  return cells.value
}

const faultsOf = (bindings: Record<string, unknown>) => {
  const cells = parseCells(bindings)
  return cells.ok ? [] : cells.error
}

describe('a deployment without CELLS', () => {
  it.each([undefined, '', null])('has one cell with all users, no number, and the names of before (%j)', (CELLS) => {
    const bindings = { ...testVariables(db), CELLS }
    const [cell, ...others] = cellsOf(bindings)
    const config = parseConfig(bindings)
    expect(others).toEqual([])
    expect(cell).toMatchObject({ number: null, suffix: '', users: { from: 1, to: Number.MAX_SAFE_INTEGER } })
    expect(cell.config).toEqual(config.ok ? config.value : null)
    expect([scannerOf(cell), endpointOf(cell, 'abc')]).toEqual(['scanner', 'abc'])
    expect(cellOfObject([cell], undefined)).toBe(cell)
  })

  it('is the same as one with a single cell of all users', () => {
    const [one] = cellsOf(bindingsWith({ CELLS: [{ db: 'DB', uids: '1-', xpub: 'KEY_1' }] }))
    const [without] = cellsOf(testVariables(db))
    expect(one).toEqual(without)
  })
})

describe('three cells', () => {
  it('have a database, a key, payouts and names of their own, and the rest in common', () => {
    const [first, second, third] = cellsOf(
      bindingsWith({ CELLS: JSON.stringify([{ ...threeCells[0], payouts: { address } }, ...threeCells.slice(1)]) }),
    )
    expect([first, second, third].map((cell) => cell?.number)).toEqual([1, 2, 3])
    expect(first.config.payouts).not.toBeNull()
    expect(second?.config.payouts).toBeNull()
    expect(third?.config.currencies).toEqual(first.config.currencies)
    expect(third?.payoutAddresses).toEqual(first.payoutAddresses)
    expect([first, second].map((cell) => cell && [scannerOf(cell), endpointOf(cell, 'abc')])).toEqual([
      ['scanner', 'abc'],
      ['scanner DB_2', 'abc DB_2'],
    ])
  })

  it('divide what the nodes allow, so that none takes what another one needs', () => {
    const nodes = [{ rpc: 'https://a.example/', api: 'https://a.example', perSecond: 10, perDay: 100_000 }]
    for (const { config } of cellsOf(bindingsWith({ TRON_NODES: nodes }))) {
      expect(config.nodes).toMatchObject([{ perSecond: 3, perDay: 33_333 }])
    }
  })

  it('find the cell of an object by its name, and none for the object of a cell that is gone', () => {
    const cells = cellsOf(bindingsWith())
    for (const cell of cells) expect(cellOfObject(cells, scannerOf(cell))).toBe(cell)
    for (const cell of cells) expect(cellOfObject(cells, endpointOf(cell, 'f'.repeat(64)))).toBe(cell)
    expect(cellOfObject(cells, 'scanner DB_9')).toBeNull()
    expect(cellOfObject(cells, undefined)).toBeNull()
  })

  const [a, b, c] = threeCells
  const first = 'CELLS: '
  test.each([
    [{ CELLS: [a, { ...b, db: 'DB' }, c] }, `${first}another db for each cell`],
    [{ CELLS: [a, { ...b, xpub: 'KEY_1' }, c] }, `${first}another xpub for each cell`],
    [{ KEY_2: testXpub }, `${first}another key for each cell`],
    [{ CELLS: [a, { ...b, uids: '999999-1999999' }, c] }, `${first}two ranges with user 999999`],
    [{ CELLS: [a, { ...b, uids: '1000001-1999999' }, c] }, `${first}no range with user 1000000`],
    [{ CELLS: [a, b] }, `${first}no range with user 2000000; the last one has no end`],
    [{ CELLS: [{ ...a, uids: '2-999999' }, b, c] }, `${first}no range with user 1`],
    [{ CELLS: [a, { ...b, uids: '1000000' }, c] }, 'CELLS.1.uids: a range of users such as "1-999999"'],
    [{ CELLS: [a, { ...b, uids: '2-1' }, c] }, 'CELLS.1.uids: a range of users such as "1-999999"'],
    [{ CELLS: [a, { ...b, name: 'x' }, c] }, 'CELLS.1: only db, uids, xpub, payouts'],
    [{ CELLS: 'x' }, `CELLS: an array of 1 to ${cellsMax} entries`],
    [{ DB_2: undefined }, 'CELLS.1.db: the D1 database binding is missing'],
    [{ KEY_3: undefined }, 'CELLS.2.xpub: an extended public key'],
    [{ CELLS: [a, { ...b, payouts: { address: 'T' } }, c] }, 'CELLS.1.payouts.address: the Tron address'],
    [{ PAYOUTS: { address } }, 'PAYOUTS: not beside CELLS'],
    [{ CELLS: [{ ...a, payouts: { address } }, { ...b, payouts: { address } }, c] }, `${first}another payout address`],
    [
      { CELLS: [{ ...a, payouts: { address } }, b, c], OPERATOR_ADDRESSES: [address] },
      'OPERATOR_ADDRESSES: without the payout address of a cell, which pays users of other cells',
    ],
    [
      { CELLS: [a, { ...b, payouts: { address: 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6' } }, c] },
      "CELLS: TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6 is one of the first 20 addresses of a cell's key",
    ],
    [
      { TRON_NODES: [{ rpc: 'https://a.example/', api: 'https://a.example', perSecond: 2 }] },
      'TRON_NODES.0: at least 3 requests a second, one for each cell',
    ],
    [{ TRON_CHAIN_ID: 'x' }, 'TRON_CHAIN_ID: a chain id such as 0x2b6653dc'],
  ])('refuse %j', (changes, fault) => {
    const faults = faultsOf(bindingsWith(changes))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toContain(fault)
  })
})

describe('the cell of a request', () => {
  const cells = cellsOf(bindingsWith())
  test.each([
    [[7], undefined, 1],
    [[999_999], undefined, 1],
    [[1_000_000], undefined, 2],
    [[2_000_000], undefined, 3],
    [[Number.MAX_SAFE_INTEGER - 1], undefined, 3],
    [[7, 8], '1', 1],
    [[], '3', 3],
    [[Number.MAX_SAFE_INTEGER, 1_000_000], undefined, 2],
    [[Number.MAX_SAFE_INTEGER], '2', 2],
    [[], undefined, 'bad-input'],
    [[Number.MAX_SAFE_INTEGER], undefined, 'bad-input'],
    [null, undefined, 1],
    [null, '2', 2],
    [null, '4', 'bad-input'],
    [[7], '4', 'bad-input'],
    [[7, 1_000_000], undefined, 'other-cell'],
    [[7, 1_000_000], '1', 'other-cell'],
    [[7], '2', 'other-cell'],
  ])('that names the users %j and the cell %j is %j', (uids, cell, expected) => {
    const chosen = chooseCell(cells, { uids, cell })
    expect(chosen.ok ? chosen.value.number : chosen.error.kind).toBe(expected)
  })

  it('is that of its user, for the first and the last user of each range', () => {
    for (const cell of cells) {
      expect(cellOf(cells, cell.users.from)).toBe(cell)
      expect(cellOf(cells, cell.users.to)).toBe(cell)
    }
  })
})
