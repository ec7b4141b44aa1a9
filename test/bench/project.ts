import { fileURLToPath } from 'node:url'

/** The project's root, with a slash at the end. */
export const root = fileURLToPath(new URL('../../', import.meta.url).href)
/** Bundles, seeded databases and running ones: ignored by git, and safe to delete. */
export const workDir = `${root}.wrangler/bench/`

/** Why the benchmark can't go on: one sentence for the person at the terminal. */
export class Trouble extends Error {}

/** Writes a line of progress. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Milliseconds that `work` took, and what it gave. */
export async function timed<T>(work: () => Promise<T> | T): Promise<{ readonly ms: number; readonly value: T }> {
  const start = performance.now()
  const value = await work()
  return { ms: performance.now() - start, value }
}
