import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toCsv } from '../../src/worker/common/csv.ts'

const formulas = ['=', '+', '-', '@', '＝', '＋', '－', '＠']
const separators = [',', ';', '\t', '\r', '\n']

describe('a CSV file', () => {
  it('quotes what is there, and leaves what is not there empty', () => {
    expect(
      toCsv([
        ['kind', 'a"b', '-2.5'],
        ['', '0.000001', ''],
      ]),
    ).toBe('"kind","a""b","-2.5"\r\n,"0.000001",\r\n')
  })

  it.each([
    ['=1+1', "'=1+1"],
    ['+cmd', "'+cmd"],
    ['-1+1', "'-1+1"],
    ['@x', "'@x"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    [' =2', " '=2"],
    ['\t=1', "\t'=1"],
    ['x;=1', "x;'=1"],
    ['x; =1', "x; '=1"],
    ['x;"=1', 'x;"\'=1'],
    ['x,@y', "x,'@y"],
    ['x\t+y', "x\t'+y"],
    ['x\n-y', "x\n'-y"],
    ['x\r\n＝y', "x\r\n'＝y"],
    ['-2.5', '-2.5'],
    ['x;-2.5', "x;'-2.5"],
    ['a=b;c-d', 'a=b;c-d'],
    ['tea, 5 % off', 'tea, 5 % off'],
  ])('makes harmless what a spreadsheet would run: %j', (text, shown) => {
    expect(toCsv([['x', text]])).toBe(`"x","${shown.replaceAll('"', '""')}"\r\n`)
  })

  it('has no formula behind any separator, whether a reader knows quotes or not, and every text comes back', () => {
    const texts = fc.string({
      unit: fc.constantFrom(...formulas, ...separators, '"', ' ', 'x', '1', '.'),
      maxLength: 12,
    })
    const rows = fc.array(
      texts.map((text) => ['x', text]),
      { minLength: 1, maxLength: 3 },
    )
    fc.assert(
      fc.property(rows, (table) => {
        const text = toCsv(table)
        const starts = text.split(/[,;\t\r\n]/).map((cell) => cell.replace(/^[\s"]*/, ''))
        const suspect = starts.filter((start) => formulas.some((sign) => start.startsWith(sign)))
        expect(suspect.filter((start) => !/^-\d+(\.\d+)?"$/.test(start))).toEqual([])
        expect(readCsv(text.replaceAll("'", ''))).toEqual(table)
      }),
      { numRuns: 2_000 },
    )
  })
})

/** The rows of a table, as a reader of RFC 4180 gets them. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, end] of text.matchAll(/(?:"((?:[^"]|"")*)")?(,|\r\n)/gy)) {
    rows.at(-1)?.push((quoted ?? '').replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}
