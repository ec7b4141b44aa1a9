import { fileURLToPath } from 'node:url'

/** The path of the repository, with a slash at the end. */
export const root = fileURLToPath(new URL('../../', import.meta.url).href)

/** An error for the person at the terminal, who sees only its message, without a stack. */
export class UserError extends Error {}

/** Prints a line to standard output; the line break is added. */
export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
