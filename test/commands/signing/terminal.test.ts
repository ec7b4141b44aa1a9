import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { showNewMnemonic } from '../../../src/commands/signing/mnemonic.ts'
import { createTerminal } from '../../../src/commands/signing/terminal.ts'

/** A terminal at which a person types `typed`. `shown` returns all that appears on it. */
function atTerminal(typed: readonly string[], { isTTY = true, fromStdin = false } = {}) {
  const rawModes: boolean[] = []
  const input = Object.assign(new PassThrough(), { isTTY, setRawMode: (isRaw: boolean) => rawModes.push(isRaw) })
  const screen = new PassThrough()
  const output = Object.assign(screen, { isTTY })
  let shown = ''
  screen.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  const terminal = createTerminal({ input, output, questions: screen }, fromStdin)
  for (const part of typed) input.write(part)
  return { terminal, input, rawModes, shown: () => shown }
}

describe('a secret line', () => {
  it.each<[string, readonly string[], string]>([
    ['typed letter by letter', [...'abc', '\r'], 'abc'],
    ['pasted with its line break', ['alpha beta\n'], 'alpha beta'],
    ['corrected', ['abx', '\u007f', 'c', '\r'], 'abc'],
    ['begun again', ['wrong', '\u0015', 'right\r'], 'right'],
    ['with keys that are no characters', ['a\u001b', 'b\t', '\r'], 'ab'],
  ])('%s is read and never shown', async (_, typed, line) => {
    const { terminal, rawModes, shown } = atTerminal(typed)
    expect(await terminal.askSecret('Secret: ')).toBe(line)
    expect(shown()).toBe('Secret: \n')
    expect(rawModes).toEqual([true, false])
  })

  it.each(['\u0003', '\u0004'])('ends with the command at %j, and the terminal echoes again', async (key) => {
    const { terminal, rawModes } = atTerminal(['abc', key])
    await expect(terminal.askSecret('Secret: ')).rejects.toThrow('ended at the terminal')
    expect(rawModes).toEqual([true, false])
  })
})

it('a secret line is not shown at a terminal where a script was expected either', async () => {
  const { terminal, rawModes } = atTerminal(['secret\n'], { fromStdin: true })
  expect(await terminal.askSecret('Secret: ')).toBe('secret')
  expect(rawModes).toEqual([true, false])
})

describe('a visible line', () => {
  it.each(['\u0003', '\u0004'])('ends with the command at %j, and new words leave the screen', async (key) => {
    const { terminal, input, shown } = atTerminal(['\r'])
    const asked = showNewMnemonic(terminal)
    await expect.poll(shown).toContain('Write them down')
    input.write(key)
    await expect(asked).rejects.toThrow('ended at the terminal')
    expect(shown().lastIndexOf('\u001b[3J')).toBeGreaterThan(shown().lastIndexOf('24 '))
  })

  it('is read after its question, which stays on the screen', async () => {
    const { terminal, shown } = atTerminal(['yes\r'])
    expect(await terminal.ask('Sure? ')).toBe('yes')
    // the question is still visible
    expect(shown().lastIndexOf('Sure? ')).toBeGreaterThan(shown().lastIndexOf('\u001b[0J'))
  })
})

describe('the answers of a script', () => {
  it('are the lines of its input, each for one question, and are not shown', async () => {
    const { terminal, input, shown } = atTerminal(['one\r\ntw', 'o\nthree'], { isTTY: false, fromStdin: true })
    input.end()
    expect([await terminal.askSecret('1?'), await terminal.ask('2?'), await terminal.askSecret('3?')]).toEqual([
      'one',
      'two',
      'three',
    ])
    expect(shown()).toBe('1?\n2?\n3?\n')
    await expect(terminal.ask('4?')).rejects.toThrow('the input ended')
  })

  it('are refused where they were not asked for', async () => {
    const { terminal } = atTerminal(['secret\n'], { isTTY: false })
    await expect(terminal.askSecret('Secret: ')).rejects.toMatchObject({ next: expect.stringContaining('--stdin') })
  })
})

it('output is private on a terminal only, and only there it is cleared', () => {
  const [screen, pipe] = [atTerminal([]), atTerminal([], { isTTY: false })]
  for (const { terminal } of [screen, pipe]) terminal.clear()
  expect([screen.terminal.isPrivate, pipe.terminal.isPrivate]).toEqual([true, false])
  expect([screen.shown().includes('\u001b[3J'), pipe.shown()]).toEqual([true, ''])
})
