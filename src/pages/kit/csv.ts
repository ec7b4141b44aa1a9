import { toCsv } from '../../worker/common/csv.ts'

/** Most characters that stay text. The browser can keep larger parts elsewhere, for example on a disk. */
const pieceChars = 1_000_000

/** A CSV file that grows: added rows are not touched again. The mark at its beginning makes spreadsheets read it as UTF-8. */
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
    /** Downloads the file. */
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
