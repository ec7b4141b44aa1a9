import { describe, expect, it } from 'vitest'
import { repositoryFiles, textOf } from '../support/source-files.ts'

/** A command in a guide, or in a text that the code shows. */
interface GuideCommand {
  readonly file: string
  readonly tool: string
  /** The words after the script's name. */
  readonly words: readonly string[]
  /**
   * Whether the command stands in a code block, to be typed. A command inside a sentence may only
   * be mentioned.
   */
  readonly isTyped: boolean
}

const tools = 'keys|collect|payout|doctor|deploy|db:migrate|operate|audit'
const commandForm = new RegExp(`npm run (${tools})(?![\\w:-])([^\`\\n]*)`, 'g')
const guides = repositoryFiles.filter((file) => file.endsWith('.md') && !file.startsWith('docs/decisions/'))
/** The files with texts that the service, the pages and the commands show. */
const code = repositoryFiles.filter((file) => /^src\/.*\.(ts|html|mjs)$/.test(file) || file === 'wrangler.toml')

function commandsIn(file: string, text: string, isTyped: boolean): GuideCommand[] {
  return [...text.matchAll(commandForm)].map(([, tool = '', rest = '']) => {
    const [typed = ''] = rest.split(/\s{2,}|"\)| #|\\n/)
    return {
      file,
      tool,
      words: typed
        .trim()
        .split(/\s+/)
        .filter((word) => word !== ''),
      isTyped,
    }
  })
}

/**
 * The commands in a page's code blocks, and those in backquotes in its sentences. A line of a
 * sentence may end inside a command.
 */
function readGuide(file: string): GuideCommand[] {
  const parts = textOf(file).split(/^```.*$/m)
  return parts.flatMap((part, i) => {
    if (i % 2 === 1) return commandsIn(file, part, true)
    return [...part.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => {
      return commandsIn(file, span.replaceAll(/\s+/g, ' '), false)
    })
  })
}

const inGuides = guides.flatMap(readGuide)
const inCode = code.flatMap((file) => commandsIn(file, textOf(file).replaceAll('\\`', '`'), false))
const isOption = (word: string) => word.startsWith('--') && word !== '--'
/** Whether a command reads files alone, so that it acts on no deployment. */
const readsFiles = ({ tool, words }: GuideCommand) => tool === 'keys' || (tool === 'audit' && words[1] !== 'missing')
const hasPlace = ({ words }: GuideCommand) => words.includes('--production') || words.includes('--env')
/**
 * Whether a command belongs to an example on the local chain, so that it need not name a
 * deployment.
 */
const isLocalWalk = ({ file, words, isTyped }: GuideCommand) =>
  isTyped &&
  /^(docs\/guides\/collecting\.md -- (plan|sign|send)|docs\/start\.md -- run)$/.test(
    [file, ...words.slice(0, 2)].join(' '),
  )

describe('a command in a guide, or in a text of the code,', () => {
  it('is found', () => {
    expect(inGuides.length).toBeGreaterThan(40)
    expect(inCode.length).toBeGreaterThan(40)
    for (const tool of tools.split('|')) expect(inGuides.some((one) => one.tool === tool)).toBe(true)
    expect(inGuides.filter(isLocalWalk)).not.toEqual([])
  })

  it('has its options after --, or npm would take them', () => {
    const wrong = [...inGuides, ...inCode].filter(({ words }) => {
      const first = words.findIndex((word) => isOption(word.replace(/^[[(]+/, '')))
      return first !== -1 && !words.slice(0, first).some((word) => /^\[?--$/.test(word))
    })
    expect(wrong).toEqual([])
  })

  it('names the deployment on which it acts', () => {
    const meant = inGuides.filter((one) => !readsFiles(one) && (one.isTyped || one.words.some(isOption)))
    expect(meant.length).toBeGreaterThan(20)
    expect(meant.filter((one) => !hasPlace(one) && !isLocalWalk(one))).toEqual([])
    // Operators read these texts in alarms and at the desk.
    const shown = inCode.filter(({ file }) => /^src\/(worker\/platform|pages)\//.test(file))
    expect(shown.length).toBeGreaterThan(20)
    const withWords = shown.filter(({ tool, words }) => tool === 'operate' || words.length > 0)
    expect(withWords.filter((one) => !hasPlace(one))).toEqual([])
  })
})
