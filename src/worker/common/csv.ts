/** Matches texts that a spreadsheet would run as a formula. */
const formula = /^[\s]*[=+\-@]/
const numeric = /^-?\d+(?:\.\d+)?$/

/** Writes rows as CSV (RFC 4180), each field in quotes. A field that a spreadsheet would run as a formula gets an apostrophe before it; numbers do not. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const field = (text: string) => {
    const harmless = formula.test(text) && !numeric.test(text) ? `'${text}` : text
    return `"${harmless.replaceAll('"', '""')}"`
  }
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}
