/**
 * A font in which every Chinese character is a square, as wide as in real Chinese fonts. The
 * package's browser has no Chinese font, and draws a narrow replacement: Chinese text would take
 * only two thirds of its real width, and tests of the layout would miss what does not fit.
 */

/** The last font family in the style sheets of the pages. */
const family = 'Noto Sans CJK SC'
const perEm = 1_000
/** The Unicode ranges of Chinese characters, their punctuation, and full-width Latin. */
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

/**
 * The bytes of a TrueType file. Tables have the names of the OpenType specification
 * (learn.microsoft.com/typography/opentype/spec, checked 2026-11).
 */
export function hanFont(): Buffer {
  const outline = Buffer.concat([
    bytes(2, 1, 60, -60, 940, 820, 3, 0), // one contour, its bounds, its last point, no instructions
    bytes(1, 1, 1, 1, 1), // four points on the curve
    // each point as its difference from the point before: x of all points, then y
    bytes(2, 60, 880, 0, -880, -60, 0, 880, 0),
  ])
  const groups = ranges.map(([first, last]) => bytes(4, first, last, glyph))
  const name = Buffer.from(family, 'utf16le').swap16()
  const tables: Readonly<Record<string, Buffer>> = {
    cmap: Buffer.concat([
      bytes(2, 0, 1, 3, 10), // one subtable, for all of Unicode
      bytes(4, 12),
      bytes(2, 13, 0), // format 13: many characters share one glyph
      bytes(4, 16 + 12 * groups.length, 0, groups.length),
      ...groups,
    ]),
    glyf: outline,
    head: Buffer.concat([
      bytes(4, 0x10000, 0x10000, 0, 0x5f0f3cf5),
      bytes(2, 0, perEm),
      bytes(4, 0, 0, 0, 0), // created and modified: not set
      bytes(2, 0, -60, perEm, 820, 0, 8, 2, 0, 0),
    ]),
    hhea: Buffer.concat([bytes(4, 0x10000), bytes(2, 880, -120, 0, perEm, 0, 0, perEm, 1, 0, 0, 0, 0, 0, 0, 0, 1)]),
    hmtx: bytes(2, perEm, 0, 0), // the widths of both glyphs
    loca: bytes(2, 0, 0, outline.length / 2), // the first glyph is empty
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
