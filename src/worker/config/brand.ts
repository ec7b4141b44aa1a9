import * as z from 'zod/mini'
import { parseJson } from '../common/result.ts'
import { entryOf, optional, parsedBy } from './schemas.ts'

/** `PAGE_BRAND`: the operator's look of the deposit page. */
export interface PageBrand {
  readonly name: string
  /** As `#rrggbb` in lower case; null for the default. */
  readonly color: string | null
  /** A data URL of an image; null for none. */
  readonly logo: string | null
}

const nameCharsMax = 40
const logoCharsMax = 20 * 1024

/**
 * The background of pages in dark mode, which must be the one in `pages/kit/base.css`. The
 * background in light mode is white.
 */
export const darkPage = '#101413'
/**
 * Least contrast of the brand's colour (WCAG 2.2, 1.4.3 and 1.4.11): on white it is the colour of
 * text, on the dark page only that of areas.
 */
const contrastMin = { white: 4.5, dark: 3 }

const nameExpected = `a name of 1 to ${nameCharsMax} characters`
const colorExpected =
  'a colour such as #2757d6, with a contrast of at least 4.5:1 with white and of 3:1 with the dark page (#101413)'
const logoExpected = `a data URL of at most ${logoCharsMax} characters: PNG, JPEG, WebP or SVG`

/**
 * A data URL of an image without quotes, spaces and angle brackets, so that the page can put it
 * into an HTML attribute as it is.
 */
const logoForm = /^data:image\/(?:png|jpeg|webp|svg\+xml)(?:;[\w=-]+)*,[\w!#$%&'()*+,./:;=?@~-]+$/

const entry = entryOf({
  name: z.string(nameExpected).check(z.regex(new RegExp(`^[^\\p{C}]{1,${nameCharsMax}}$`, 'u'), nameExpected)),
  color: z.optional(
    parsedBy(z.string(colorExpected), (value, refuse) =>
      isReadable(value) ? value.toLowerCase() : refuse(colorExpected),
    ),
  ),
  logo: z.optional(
    z.string(logoExpected).check(z.maxLength(logoCharsMax, logoExpected), z.regex(logoForm, logoExpected)),
  ),
})

/** Parses `PAGE_BRAND`, an object or its JSON text; null if it is not set. */
export const brandSchema = optional(
  parsedBy(
    z.pipe(
      z.transform((value): unknown => (typeof value === 'string' ? parseJson(value) : value)),
      entry,
    ),
    ({ name, color = null, logo = null }): PageBrand => Object.freeze({ name, color, logo }),
  ),
)

function isReadable(color: string): boolean {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return false
  return contrast(color, '#ffffff') >= contrastMin.white && contrast(color, darkPage) >= contrastMin.dark
}

/** The contrast ratio of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2). */
function contrast(color: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(color), luminance(other)].sort((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

/** The relative luminance of a colour `#rrggbb` in sRGB, from 0 to 1 (WCAG 2.2). */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
