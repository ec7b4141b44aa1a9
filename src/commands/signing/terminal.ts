import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { ToolError } from '../tool-error.ts'

/** The questions of a command to a person. This module writes the answers nowhere. */
export interface Terminal {
  print(line: string): void
  /** Asks for a line, with echo. */
  ask(question: string): Promise<string>
  /** Asks for a line, without echo. */
  askSecret(question: string): Promise<string>
  /** Whether only a person sees the output: it goes neither to a file nor to a pipe. */
  readonly isPrivate: boolean
  /** Clears the screen and what has scrolled above it, if there is a screen. */
  clear(): void
}

/** The streams of a process, or those of a test. */
export interface TerminalStreams {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  readonly output: Writable & { readonly isTTY?: boolean }
  /** Questions are written here, so that they are not a part of the output. */
  readonly questions: Writable
}

const againAdvice = 'run the command again: nothing was done'
const clearScreen = '\u001b[2J\u001b[3J\u001b[H'

/**
 * Makes the terminal of a command. With `fromStdin`, answers are the lines of the input, one for
 * each question. If the input is a terminal, `fromStdin` is ignored, because the terminal would
 * show typed secrets.
 */
export function createTerminal({ input, output, questions }: TerminalStreams, fromStdin: boolean): Terminal {
  const lines = fromStdin && input.isTTY !== true ? linesOf(input) : null
  const next = async (question: string, read: (question: string) => Promise<string>) => {
    if (lines === null && input.isTTY !== true) {
      throw new ToolError(
        'the answers must be typed at a terminal',
        'run it at one; --stdin reads the answers from the input, a line for each question',
      )
    }
    if (lines === null) return read(question)
    questions.write(`${question}\n`)
    const line = await lines.next()
    if (line.done === true) {
      throw new ToolError('the input ended before the last question', 'give a line for each question that was asked')
    }
    return line.value
  }
  return {
    print: (line) => {
      output.write(`${line}\n`)
    },
    ask: (question) => next(question, (text) => readVisible(input, questions, text)),
    askSecret: (question) => next(question, (text) => readHidden(input, questions, text)),
    isPrivate: output.isTTY === true,
    clear: () => {
      if (output.isTTY === true) output.write(clearScreen)
    },
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string, void> {
  let rest = ''
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  if (rest !== '') yield rest
}

async function readVisible(input: Readable, output: Writable, question: string): Promise<string> {
  const reader = createInterface({ input, output, terminal: true })
  try {
    return await reader.question(question)
  } catch {
    throw new ToolError('ended at the terminal', againAdvice) // Ctrl-C or Ctrl-D
  } finally {
    reader.close()
  }
}

const [interrupt, end, backspace, clearLine] = ['\u0003', '\u0004', '\u007f', '\u0015']

/**
 * Reads one line in raw mode. The terminal shows nothing, and a pasted line works like a typed one.
 */
function readHidden(input: TerminalStreams['input'], output: Writable, question: string): Promise<string> {
  output.write(question)
  return new Promise((resolve, reject) => {
    let typed = ''
    const finish = (act: () => void) => {
      input.off('data', read)
      input.setRawMode?.(false)
      input.pause()
      output.write('\n')
      act()
    }
    const read = (chunk: Buffer | string) => {
      for (const character of chunk.toString()) {
        if (character === '\r' || character === '\n') return finish(() => resolve(typed))
        if (character === interrupt || character === end)
          return finish(() => reject(new ToolError('ended at the terminal', againAdvice)))
        if (character === backspace || character === '\b') typed = typed.slice(0, -1)
        else if (character === clearLine) typed = ''
        else if (character >= ' ') typed += character
      }
    }
    input.setRawMode?.(true)
    input.on('data', read)
    input.resume()
  })
}
