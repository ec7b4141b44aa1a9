/**
 * `node test/outside/qr/run.ts [name …]`: makes the QR codes of 2,000 addresses as the deposit page
 * does, and has each named script (all of them without names) read exact pictures of them at three
 * sizes, with the readers of one language. What a script prints is compared with `<name>.expected`.
 * It installs pinned packages in a temporary folder, and is no part of the tests. `--smallest`
 * makes the smallest code of each address instead, which some readers cannot read.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generate } from 'lean-qr/nano'
import { readableCode } from '../../../src/pages/kit/readable-code.ts'
import { addressFromHex, formatBase58 } from '../../../src/worker/chain/address.ts'
import { tryScripts } from '../try-scripts.ts'

const here = fileURLToPath(new URL('.', import.meta.url).href)
const count = 2_000
const make = process.argv.includes('--smallest') ? generate : readableCode

/**
 * A line for the scripts: the address, the modules of a side, and each module from left to right
 * and from top to bottom, 1 where it is dark.
 */
function lineOf(n: number): string {
  const hex = createHash('sha256').update(`address ${n}`).digest('hex').slice(0, 40)
  const address = addressFromHex(hex)
  if (address === null) throw new Error(`not an address: ${hex}`)
  const text = formatBase58(address)
  const { size, get } = make(text)
  const modules = Array.from({ length: size * size }, (_, at) => (get(at % size, Math.floor(at / size)) ? 1 : 0))
  return `${text} ${size} ${modules.join('')}\n`
}

const folder = mkdtempSync(join(tmpdir(), 'qr-'))
try {
  const codes = join(folder, 'codes.txt')
  writeFileSync(codes, Array.from({ length: count }, (_, n) => lineOf(n)).join(''))
  const names = process.argv.slice(2).filter((name) => name !== '--smallest')
  await tryScripts(here, names, { CODES: codes, DOTS: '6 10 16' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
