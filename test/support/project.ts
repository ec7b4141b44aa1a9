import { fileURLToPath } from 'node:url'

/** The project's root folder, with a slash at the end. */
export const root = fileURLToPath(new URL('../../', import.meta.url).href)

/** An error whose message explains everything to the person at the terminal: it is printed without a stack. */
export class UserError extends Error {}

/** Writes a line to standard output. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
