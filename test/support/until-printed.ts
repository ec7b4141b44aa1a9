import type { ChildProcess } from 'node:child_process'
import { lastPrinted } from '../../src/commands/child-environment.ts'

/** A running program whose output is read. */
export interface PrintingProgram {
  /**
   * `text` is what the first group of `form` matched. If nothing matched in time, `why` is a
   * sentence about it without a full stop.
   */
  readonly found: Promise<{ readonly text: string } | { readonly why: string }>
  /** Resolves when the program has ended for any reason, with the last of its output. */
  readonly ended: Promise<string>
}

const keptChars = 4_000

/**
 * Waits at most `msMax` milliseconds until the output of a program matches `form`. `what` names the
 * awaited text in the sentence `why` if no match comes.
 */
export function untilPrinted(child: ChildProcess, form: RegExp, what: string, msMax: number): PrintingProgram {
  let output = ''
  const { promise: text, resolve: find } = Promise.withResolvers<{ text: string }>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-keptChars)
      const match = form.exec(output)
      if (match !== null) find({ text: match[1] ?? match[0] })
    })
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', () => resolve(output))
  })
  const early = ended.then((all) => ({ why: `it has ended before it printed ${what}; ${lastPrinted(all)}` }))
  const late = new Promise<{ why: string }>((resolve) => {
    const end = () => resolve({ why: `it has not printed ${what} within ${msMax / 1000} s; ${lastPrinted(output)}` })
    setTimeout(end, msMax).unref()
  })
  return { found: Promise.race([text, early, late]), ended }
}
