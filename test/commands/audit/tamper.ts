import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Numbers below a bound, the same ones for each seed (mulberry32). */
function createDraw(seed: number): (bound: number) => number {
  let state = seed * 0x9e3779b9
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * bound)
  }
}

/** Changes the archive of a cell in one place, drawn from the seed. Returns what it has done. */
export function tamper(cell: string, seed: number): string {
  const draw = createDraw(seed)
  const files = ['segments', 'checkpoints'].flatMap((name) =>
    readdirSync(join(cell, name))
      .sort()
      .map((file) => join(cell, name, file)),
  )
  const pick = (from: readonly string[]) => from[draw(from.length)] ?? ''
  const file = pick(files)
  const bytes = readFileSync(file)
  const [start, length] = [draw(bytes.length), 1 + draw(20)]
  const part = bytes.subarray(start, start + length)
  const ways: readonly (() => Buffer | string)[] = [
    () =>
      Buffer.concat([
        bytes.subarray(0, start),
        Buffer.of((bytes[start] ?? 0) ^ (1 << draw(8))),
        bytes.subarray(start + 1),
      ]),
    () => Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + length)]),
    () => Buffer.concat([bytes.subarray(0, start + length), part, bytes.subarray(start + length)]),
    () => bytes.subarray(0, start),
    () => swapped(bytes, start, length),
    () => linesChanged(bytes, draw),
    () => {
      // without a checkpoint, later ones are about the same lines
      const segment = pick(files.filter((one) => one.endsWith('.jsonl')))
      rmSync(segment)
      return `removed ${segment}`
    },
    () => {
      const other = pick(files.filter((one) => one !== file))
      const kept = readFileSync(other)
      writeFileSync(other, bytes)
      writeFileSync(file, kept)
      return `swapped ${file} and ${other}`
    },
    () => {
      const other = file.replace(/\d{15}/, (number) => String(Number(number) + 1).padStart(15, '0'))
      if (draw(2) === 0) renameSync(file, other)
      else writeFileSync(other, bytes)
      return `renamed or repeated ${file}`
    },
  ]
  const way = draw(ways.length)
  const result = ways[way]?.() ?? ''
  if (typeof result === 'string') return result
  // a change that changes nothing is one more byte
  writeFileSync(file, result.equals(bytes) ? Buffer.concat([bytes, Buffer.of(10)]) : result)
  return `way ${way} at ${start} of ${file}`
}

function swapped(bytes: Buffer, start: number, length: number): Buffer {
  const one = bytes.subarray(start, start + length)
  const next = bytes.subarray(start + length, start + 2 * length)
  return Buffer.concat([bytes.subarray(0, start), next, one, bytes.subarray(start + 2 * length)])
}

/** Removes, repeats or swaps whole lines. */
function linesChanged(bytes: Buffer, draw: (bound: number) => number): Buffer {
  const lines = bytes.toString('latin1').split('\n').slice(0, -1)
  const at = draw(lines.length)
  const way = draw(3)
  const line = lines[at] ?? ''
  if (way === 0) lines.splice(at, 1)
  else if (way === 1) lines.splice(draw(lines.length), 0, line)
  else lines.splice(draw(lines.length), 0, ...lines.splice(at, 1))
  return Buffer.from(lines.map((one) => `${one}\n`).join(''), 'latin1')
}
