import { type Bitmap2D, correction, generate } from 'lean-qr/nano'

/** The versions (sizes) to try: an address fits into version 3. */
const versions = { first: 3, last: 8 }

/**
 * Makes the smallest code in which readers find no other squares than the three at its corners:
 * some take what looks like a fourth one for a corner, and then read nothing. One address in eight
 * needs a larger code than the smallest.
 */
export function readableCode(text: string): Bitmap2D {
  for (let minVersion = versions.first; ; minVersion += 1) {
    const code = generate(text, { minCorrectionLevel: correction.M, minVersion })
    if (countCentres(code) === 3 * 3 || minVersion === versions.last) return code
  }
}

/**
 * Counts the modules that readers such as ZXing take for the middle of a square when they go
 * through the rows: three for each corner. From there they look for the middle of the column, and
 * in its row once more, and the sizes may differ by 40 % and by 20 %.
 */
function countCentres({ size, get }: Bitmap2D): number {
  let count = 0
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const row = squareOf((step) => get(x + step, y))
      const column = squareOf((step) => get(x, y + step))
      if (row.size === 0 || row.middle !== 0 || column.size === 0) continue
      const again = squareOf((step) => get(x + step, y + column.middle))
      const differs = (one: number) => Math.abs(one - row.size) / row.size
      if (differs(column.size) < 0.4 && differs(again.size) < 0.2) count += 1
    }
  }
  return count
}

/** More modules than half of a square that readers find. */
const reach = 12

/**
 * The size of the square whose middle part a line crosses at 0, and where on the line the middle
 * is. A line through a square is dark, light, dark, light and dark, in the proportions 1:1:3:1:1,
 * of which readers let each differ by half. The size is 0 where the line is not like that.
 */
function squareOf(isDark: (at: number) => boolean): { readonly size: number; readonly middle: number } {
  const partsFrom = (direction: 1 | -1) => {
    let at = 0
    return [true, false, true].map((dark) => {
      const from = at
      while (at < reach && isDark(direction * at) === dark) at += 1
      return at - from
    })
  }
  const [before = 0, ...left] = partsFrom(-1)
  const [after = 0, ...right] = partsFrom(1)
  const sides = [...left, ...right]
  const centre = before + after - 1
  const size = sides.reduce((sum, side) => sum + side, centre)
  const isNear = (part: number, share: number) => Math.abs(part / share - size / 7) < size / 14
  return {
    size: isNear(centre, 3) && sides.every((side) => isNear(side, 1)) ? size : 0,
    middle: Math.ceil((after - before) / 2),
  }
}
