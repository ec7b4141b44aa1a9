import { decimalForm } from './decimal.ts'

/**
 * Writes numbers and times in the format of the reader's browser, whatever the language of the
 * page.
 */
export interface Format {
  /**
   * An exact decimal with the reader's separators. No digit passes through a double. Any other text
   * is returned as it is.
   */
  amount(decimal: string, sign?: 'always' | 'minus'): string
  /** A round number of a scale in short form: 20K and not 20,000. */
  short(decimal: string): string
  /** Day and time of an ISO 8601 instant. Any other text is returned as it is. */
  time(instant: string): string
  /** Day and month of a UTC date such as `2026-11-22`. Any other text is returned as it is. */
  day(date: string): string
  /** A time on an axis, in milliseconds since 1970, written as precisely as `step` says. */
  mark(at: number, step: TimeStep): string
  /** A whole number with the reader's separators. */
  count(number: number): string
}

/** The precision of times on an axis. */
export type TimeStep = 'minute' | 'day' | 'month'

/**
 * Makes the format for the first of these locales that the browser supports; for English if it
 * supports none.
 */
export function createFormat(locales: readonly string[]): Format {
  // Formatters are made on first use, because one takes a phone about 10 ms.
  const locale = once(() => Intl.NumberFormat.supportedLocalesOf(locales.filter(isLocale))[0] ?? 'en')
  const times = (options: Intl.DateTimeFormatOptions) => once(() => new Intl.DateTimeFormat(locale(), options))
  const whole = once(() => new Intl.NumberFormat(locale()))
  const compact = once(() => new Intl.NumberFormat(locale(), { notation: 'compact' }))
  const point = once(() => {
    const parts = whole().formatToParts(1.5)
    return parts.find(({ type }) => type === 'decimal')?.value ?? '.'
  })
  const digits = once(() => Array.from({ length: 10 }, (_, digit) => whole().format(digit)))
  const full = times({ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' })
  const days = times({ month: '2-digit', day: '2-digit', timeZone: 'UTC' })
  const marks = {
    minute: times({ hour: '2-digit', minute: '2-digit' }),
    day: times({ month: 'short', day: 'numeric' }),
    month: times({ year: 'numeric', month: 'short' }),
  }
  const format: Format = {
    amount(decimal, sign = 'minus') {
      if (!decimalForm.test(decimal)) return decimal
      const isNegative = decimal.startsWith('-')
      const [integer = '0', fraction = ''] = decimal.replace('-', '').split('.')
      const decimals = fraction.replace(/\d/g, (digit) => digits()[Number(digit)] ?? digit)
      const mark = isNegative ? '−' : sign === 'always' ? '+' : ''
      return mark + whole().format(BigInt(integer)) + (decimals === '' ? '' : point() + decimals)
    },
    short: (decimal) => (/^\d{4,}$/.test(decimal) ? compact().format(BigInt(decimal)) : format.amount(decimal)),
    time(instant) {
      const at = new Date(instant)
      return Number.isNaN(at.getTime()) ? instant : full().format(at)
    },
    day(date) {
      const at = new Date(date)
      return Number.isNaN(at.getTime()) ? date : days().format(at)
    },
    mark: (at, step) => marks[step]().format(at),
    count: (number) => whole().format(number),
  }
  return format
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => {
    made ??= make()
    return made
  }
}

function isLocale(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}
