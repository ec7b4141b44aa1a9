/** What a spreadsheet would take for a formula. */
const formula = /^[\s]*[=+\-@]/
const numeric = /^-?\d+(?:\.\d+)?$/

/** A table as CSV (RFC 4180). A field that a spreadsheet would run gets an apostrophe; a plain number stays one. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  const field = (text: string) => {
    const harmless = formula.test(text) && !numeric.test(text) ? `'${text}` : text
    return `"${harmless.replaceAll('"', '""')}"`
  }
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

/** Gives the reader a CSV file. The mark at its beginning makes spreadsheets read it as UTF-8. */
export function downloadCsv(name: string, rows: readonly (readonly string[])[]): void {
  const url = URL.createObjectURL(new Blob(['\ufeff', toCsv(rows)], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
