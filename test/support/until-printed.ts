import type { ChildProcess } from 'node:child_process'
import { lastPrinted } from '../../src/commands/child-environment.ts'

/** A running program, what it has printed, and its end. */
export interface PrintingProgram {
  /** What `form` has found in its output, its first group; or why that did not come, in a sentence without its full stop. */
  readonly found: Promise<{ readonly text: string } | { readonly why: string }>
  /** Resolves when it has ended for any reason, with all that it has printed. */
  readonly ended: Promise<string>
}

const keptChars = 4_000

/** Waits for something in the output of a program, at most so long. `what` it must print, for the sentence. */
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
