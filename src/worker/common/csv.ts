/** The beginning of a text that a spreadsheet would run as a formula. */
const formula = /^[\s]*[=+\-@]/
const numeric = /^-?\d+(?:\.\d+)?$/

/** Writes a table as CSV (RFC 4180). A field that a spreadsheet would run gets an apostrophe; a plain number stays a number. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const field = (text: string) => {
    const harmless = formula.test(text) && !numeric.test(text) ? `'${text}` : text
    return `"${harmless.replaceAll('"', '""')}"`
  }
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}
