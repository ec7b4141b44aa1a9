/** Matches texts that a spreadsheet would run as a formula, with full-width characters too. */
const formula = /^([\s"]*)([=+\-@＝＋－＠])/
const numeric = /^-?\d+(?:\.\d+)?$/
/**
 * Matches the texts between the separators of readers: a table with commas is often read with
 * semicolons or tabs, or line by line.
 */
const betweenSeparators = /[^,;\t\r\n]+/g

/**
 * Writes rows as CSV (RFC 4180): each field in quotes, an empty one as nothing, because readers
 * take a quoted one for text, and so its column. What a spreadsheet would run as a formula gets an
 * apostrophe before it, at the beginning of a field and behind each separator; a field that is a
 * number does not.
 */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

function field(text: string): string {
  if (text === '') return ''
  const harmless = numeric.test(text) ? text : text.replace(betweenSeparators, (part) => part.replace(formula, "$1'$2"))
  return `"${harmless.replaceAll('"', '""')}"`
}
