import { describe, expect, it } from 'vitest'
import type { LineOf } from '../../../src/commands/audit/lines.ts'
import { type LostKind, type LostRows, lostRanges } from '../../../src/commands/audit/lost-lines.ts'
import { findMissing } from '../../../src/commands/audit/missing.ts'
import type { CellReport } from '../../../src/commands/audit/verify.ts'
import { openSqliteD1 } from '../../support/sqlite-d1.ts'

const hex = (digit: string, length: number) => digit.repeat(length)
const start = `INSERT INTO stored_currency VALUES (2, '${hex('d', 40)}', 6, 6, 1);
INSERT INTO stored_address (id, uid, address, issued_height, created_at)
  VALUES (1, 7, unhex('${hex('a', 40)}'), 80, 5), (2, 8, unhex('${hex('b', 40)}'), 90, 6);
INSERT INTO scan (id, height, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at)
  VALUES (1, 100, 100, 1, 1, 1, 1, 1);
INSERT INTO stored_transfer (txid, position, height, cuy, uid, from_address, to_address, raw, native, state, amount,
    created_at, changed_at)
  VALUES (unhex('${hex('1', 64)}'), 0, 95, 2, 7, unhex('${hex('f', 40)}'), unhex('${hex('a', 40)}'), '5000000', 0,
    'credited', 5000000, 9, 9);
INSERT INTO posting (entries, posted_by, created_at)
  VALUES ('[{"uid":7,"cuy":2,"type":4,"osn":"bill","amount":-1500000,"mark":""}]', 'shop', 9);`

/** Compares rows, each with the members that count, with that database. */
async function compare(
  rows: readonly { readonly kind: LostKind; readonly key: readonly (string | number)[]; readonly line: object }[],
) {
  const { sqlite } = openSqliteD1()
  sqlite.exec(start)
  const read = async (statements: readonly string[]) => statements.map((sql) => sqlite.prepare(sql).all())
  const kinds = ['address', 'order', 'decision', 'entry', 'transfer', 'payout', 'correction'] as const
  const lost = Object.fromEntries(
    kinds.map((kind) => [kind, rows.filter((row) => row.kind === kind).map((row, i) => ({ ...row, number: i }))]),
  ) as unknown as LostRows // safe: the members that are read
  const found = await findMissing(read, lost)
  sqlite.close()
  return found.map(({ text, way }) => [text, way.by === 'command' ? way.act : way.why])
}

const address = (id: number, uid: number, digit: string) => {
  const line = { id, uid, address: hex(digit, 40), issued_height: 90 } as LineOf<'address'>
  return { kind: 'address' as const, key: [id, uid], line }
}
const entry = (osn: string, type: number, amt: string) => ({
  ...{ kind: 'entry' as const, key: [7, 2, type, osn] },
  line: { uid: 7, cuy: 2, type, osn, amt },
})
const transfer = (digit: string, position: number, uid: number) => ({
  ...{ kind: 'transfer' as const, key: [hex(digit, 64), position] },
  line: { txid: hex(digit, 64), position, uid, cuy: 2, amt: '5', state: 'credited', height: 95 },
})

describe('what a database lacks of an archive', () => {
  it('is no row that it has', async () => {
    const had = [address(2, 8, 'b'), entry('bill', 4, '-1.5'), transfer('1', 0, 7)]
    expect(await compare(had)).toEqual([])
  })

  it('is an address, unless another user has it or was given it later', async () => {
    const ways = (await compare([address(2, 9, 'b'), address(3, 5, 'c'), address(3, 6, 'c')])).map(([, way]) => way)
    expect(ways).toEqual(['user 8 has it now', 'user 6 was given it later', 'insert'])
  })

  it('is an entry, unless its key has another amount', async () => {
    const rows = [entry('bill', 4, '-2'), entry('bill', 5, '2'), entry(`x; 'y'`, 9, '0.000001')]
    expect((await compare(rows)).map(([, way]) => way)).toEqual([
      'the database has -1.5 under its key',
      'insert',
      'insert',
    ])
  })

  it('is a deposit, which this command does not put back', async () => {
    const [other, block, inner] = await compare([transfer('1', 0, 9), transfer('2', 0, 7), transfer('2', -1, 7)])
    expect(other?.[1]).toBe('it is credited to user 7')
    expect(block?.[1]).toContain('the scan credits it')
    expect(inner).toEqual([expect.stringContaining(' i0 of user 7'), expect.stringContaining('/tron/recharge?txid=')])
  })

  it('is looked for in as many statements as it takes', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => entry(`${'x'.repeat(100)} ${i}`, 4, '-1'))
    expect(await compare([...rows, entry('bill', 4, '-1.5')])).toHaveLength(3_000)
  })
})

describe('the lines that a restore may have lost', () => {
  const epochs = [
    { epoch: 2, from: 5, to: 9 },
    { epoch: 3, from: 30, to: 29 },
  ] // safe: epoch 3 has lost none
  const ranges = (row: Parameters<typeof lostRanges>[1], list = epochs) =>
    lostRanges({ epochs: list, lines: 40 } as unknown as CellReport, row) // safe: the members that are read

  it.each([
    ['those of each epoch', { epoch: 3, lines: 40, common: null }, epochs, [[5, 9]]],
    ['those that the row of the copy does not know', { epoch: 1, lines: 25, common: null }, [], [[25, 39]]],
    ['those before an epoch that is to begin', { epoch: 2, lines: 40, common: 19 }, [], [[20, 39]]],
    ['all, if the copy has no row', null, [], [[0, 39]]],
  ])('are %s', (_, row, list, expected) => {
    expect(ranges(row, list).map(({ from, to }) => [from, to])).toEqual(expected)
  })

  it.each([
    ['that the copy of the archive lacks', { epoch: 4, lines: 41, common: null }],
    ['whose lines before it the copy lacks', { epoch: 4, lines: 41, common: 19 }],
  ])('are not known after an epoch %s', (_, row) => {
    expect(() => ranges(row)).toThrow('the database has begun an epoch that this copy of the archive has not')
  })
})
