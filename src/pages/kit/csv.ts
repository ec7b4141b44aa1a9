import { toCsv } from '../../worker/common/csv.ts'

/** Characters that are kept as text at most: the browser can put more aside, on a disk for instance. */
const pieceChars = 1_000_000

/** A CSV file that grows: what was added is not touched again. The mark at its beginning makes spreadsheets read it as UTF-8. */
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
    /** Gives it to the reader. */
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

/** Gives the reader a CSV file with these rows, the first one being the names of its columns. */
export function downloadCsv(name: string, [columns = [], ...rows]: readonly (readonly string[])[]): void {
  const file = createCsv(columns)
  file.add(rows)
  file.save(name)
}
