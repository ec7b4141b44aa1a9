/**
 * A font in which each Chinese character is a square, as wide as in every Chinese font. The browser of the package has no such font: it
 * draws what it lacks in the width of a Latin letter, so that a line of Chinese took less than two thirds of its room.
 */

/** The pages ask for this one: it is the last of their families. */
const family = 'Noto Sans CJK SC'
const perEm = 1_000
/** Chinese and its marks, and the wide forms of Latin ones. */
const ranges = [
  [0x3000, 0x303f],
  [0x4e00, 0x9fff],
  [0xff00, 0xffef],
] as const
const glyph = 1

type Size = 1 | 2 | 4
const bytes = (size: Size, ...values: readonly number[]) =>
  Buffer.concat(
    values.map((value) => {
      const one = Buffer.alloc(size)
      one.writeIntBE(value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value, 0, size)
      return one
    }),
  )

/** A TrueType file. The names of its parts are those of the specification (learn.microsoft.com/typography/opentype/spec, checked 2026-11). */
export function hanFont(): Buffer {
  const outline = Buffer.concat([
    bytes(2, 1, 60, -60, 940, 820, 3, 0), // one contour, its bounds, its last point, no instructions
    bytes(1, 1, 1, 1, 1), // four points on the curve
    bytes(2, 60, 880, 0, -880, -60, 0, 880, 0), // each from the one before: x, then y
  ])
  const groups = ranges.map(([first, last]) => bytes(4, first, last, glyph))
  const name = Buffer.from(family, 'utf16le').swap16()
  const tables: Readonly<Record<string, Buffer>> = {
    cmap: Buffer.concat([
      bytes(2, 0, 1, 3, 10), // one table, of all of Unicode
      bytes(4, 12),
      bytes(2, 13, 0), // many characters, one glyph
      bytes(4, 16 + 12 * groups.length, 0, groups.length),
      ...groups,
    ]),
    glyf: outline,
    head: Buffer.concat([
      bytes(4, 0x10000, 0x10000, 0, 0x5f0f3cf5),
      bytes(2, 0, perEm),
      bytes(4, 0, 0, 0, 0), // times
      bytes(2, 0, -60, perEm, 820, 0, 8, 2, 0, 0),
    ]),
    hhea: Buffer.concat([bytes(4, 0x10000), bytes(2, 880, -120, 0, perEm, 0, 0, perEm, 1, 0, 0, 0, 0, 0, 0, 0, 1)]),
    hmtx: bytes(2, perEm, 0, 0), // both glyphs
    loca: bytes(2, 0, 0, outline.length / 2), // the first one is empty
    maxp: Buffer.concat([bytes(4, 0x10000), bytes(2, glyph + 1, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)]),
    name: Buffer.concat([bytes(2, 0, 1, 6 + 12, 3, 1, 0x409, 1, name.length, 0), name]),
  }
  const count = Object.keys(tables).length
  let offset = 12 + 16 * count
  const records: Buffer[] = []
  const contents: Buffer[] = []
  for (const [tag, table] of Object.entries(tables)) {
    records.push(Buffer.from(tag), bytes(4, 0, offset, table.length))
    const padded = Buffer.concat([table, Buffer.alloc(-table.length & 3)])
    contents.push(padded)
    offset += padded.length
  }
  return Buffer.concat([bytes(4, 0x10000), bytes(2, count, 128, 3, 16 * count - 128), ...records, ...contents])
}
