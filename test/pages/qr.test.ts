import { createHash } from 'node:crypto'
import decodeQr from 'qr/decode.js'
import { describe, expect, it } from 'vitest'
import { readableCode } from '../../src/pages/kit/readable-code.ts'
import { addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'

/**
 * Addresses whose smallest code ZXing (Java, 3.5.4) does not read from an exact picture; the first
 * one is that of the README, for ZXing in JavaScript.
 */
const difficult = [
  ...['TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6', 'TA8A5aiqKJu25toZQCAdiVUKBgVfNfGygt', 'TEo8SuTsvzecUEiFxfPsSBNYaUu9GcLgsd'],
  ...['TAZEQVFpyr6pyCUr99igseDXoF5GUqEd2T', 'TYJQ3oBhijN1nrm7WVXRyMx3g3KQHKiewV', 'TPk7DGh3vKBAiavzpYqBZYGR1qVjjoNCG5'],
]
const addressOf = (n: number) => {
  const hex = createHash('sha256').update(`address ${n}`).digest('hex').slice(0, 40)
  return formatBase58(addressFromHex(hex) ?? expect.fail(hex))
}
const addresses = [...difficult, ...Array.from({ length: 200 }, (_, n) => addressOf(n))]

/** Pixels of a module. */
const dots = 3
const quiet = 4

/** The exact picture of an address's code: whether the pixel of a column and row is dark. */
function pictureOf(address: string) {
  const code = readableCode(address)
  const side = (code.size + 2 * quiet) * dots
  return {
    side,
    modules: code.size,
    isDark: (x: number, y: number) => code.get(Math.floor(x / dots) - quiet, Math.floor(y / dots) - quiet),
  }
}

/** The lengths of the runs of one colour in a line of `side` pixels, and where each begins. */
function runsOf(side: number, isDark: (at: number) => boolean) {
  const runs: { readonly from: number; to: number; readonly dark: boolean }[] = []
  for (let at = 0; at < side; at += 1) {
    const last = runs.at(-1)
    if (last?.dark === isDark(at)) last.to = at + 1
    else runs.push({ from: at, to: at + 1, dark: isDark(at) })
  }
  return runs
}

/**
 * The squares that a line shows to ZXing's `foundPatternCross`: dark, light, dark, light, dark, as
 * 1:1:3:1:1, each with less than half a difference.
 */
function squaresIn(side: number, isDark: (at: number) => boolean) {
  const runs = runsOf(side, isDark)
  return runs.flatMap((middle, index) => {
    const five = runs.slice(index - 2, index + 3)
    if (!middle.dark || index < 2 || five.length < 5) return []
    const lengths = five.map(({ from, to }) => to - from)
    const size = lengths.reduce((sum, one) => sum + one)
    const fits = lengths.every(
      (one, nth) => Math.abs(one - (nth === 2 ? 3 : 1) * (size / 7)) < (nth === 2 ? 3 : 1) * (size / 14),
    )
    return fits ? [{ ...middle, size, centre: Math.floor((middle.from + middle.to) / 2) }] : []
  })
}

/**
 * The corners that ZXing's search finds: in a row, then in the column through the middle, then in
 * the row through the middle of that. In modules.
 */
function cornersIn({ side, isDark }: ReturnType<typeof pictureOf>): ReadonlySet<string> {
  const found = new Set<string>()
  for (let y = 0; y < side; y += 1) {
    for (const row of squaresIn(side, (x) => isDark(x, y))) {
      const column = squaresIn(side, (at) => isDark(row.centre, at)).find(({ from, to }) => from <= y && y < to)
      if (column === undefined || 5 * Math.abs(column.size - row.size) >= 2 * row.size) continue
      const again = squaresIn(side, (at) => isDark(at, column.centre)).find(
        ({ from, to }) => from <= row.centre && row.centre < to,
      )
      if (again === undefined || 5 * Math.abs(again.size - row.size) >= row.size) continue
      found.add([again.centre, column.centre].map((at) => Math.floor(at / dots) - quiet).join())
    }
  }
  return found
}

describe('the QR code of an address', () => {
  it('has nothing that readers take for a fourth corner', () => {
    const wrong = addresses.flatMap((address) => {
      const picture = pictureOf(address)
      const corner = picture.modules - 4
      const found = cornersIn(picture)
      const isRight = found.size === 3 && ['3,3', `3,${corner}`, `${corner},3`].every((one) => found.has(one))
      return isRight ? [] : [`${address}: ${[...found].join(' ')}`]
    })
    expect(wrong).toEqual([])
  })

  it('is the address, for a reader', () => {
    const unread = addresses.filter((address) => {
      const { side, isDark } = pictureOf(address)
      const data = new Uint8Array(side * side * 4).fill(255)
      for (let at = 0; at < side * side; at += 1)
        if (isDark(at % side, Math.floor(at / side))) data.fill(0, 4 * at, 4 * at + 3)
      // no time limit, for slow machines
      return decodeQr({ width: side, height: side, data }, { timeLimit: Number.POSITIVE_INFINITY }) !== address
    })
    expect(unread).toEqual([])
  })

  it('is rarely larger than it must be', () => {
    const sizes = addresses.slice(difficult.length).map((address) => readableCode(address).size)
    expect(sizes.filter((size) => size > 29).length).toBeLessThan(60) // about one in eight of the 200
    expect(sizes.filter((size) => size > 33).length).toBeLessThan(15)
  })
})
