import { toCsv } from '../../worker/common/csv.ts'

/**
 * After this many characters the text becomes a Blob, which the browser can keep out of memory, for
 * example on a disk.
 */
const pieceChars = 1_000_000

/**
 * A CSV file that grows row by row, without work on earlier rows. The byte order mark at its
 * beginning makes spreadsheets read it as UTF-8.
 */
export function createCsv(columns: readonly string[]) {
  const pieces: Blob[] = []
  let texts = ['\ufeff', toCsv([columns])]
  let chars = 0
  const setAside = () => {
    pieces.push(new Blob(texts))
    texts = []
    chars = 0
  }
  return {
    add(rows: readonly (readonly string[])[]): void {
      const text = toCsv(rows)
      texts.push(text)
      chars += text.length
      if (chars > pieceChars) setAside()
    },
    /** Downloads the file with the rows that were added so far. */
    save(name: string): void {
      setAside()
      const url = URL.createObjectURL(new Blob(pieces, { type: 'text/csv;charset=utf-8' }))
      const link = document.createElement('a')
      link.href = url
      link.download = name
      link.click()
      setTimeout(() => URL.revokeObjectURL(url), 10_000)
    },
  }
}

/** Downloads a CSV file with these rows. The first row has the column names. */
export function downloadCsv(name: string, [columns = [], ...rows]: readonly (readonly string[])[]): void {
  const file = createCsv(columns)
  file.add(rows)
  file.save(name)
}
