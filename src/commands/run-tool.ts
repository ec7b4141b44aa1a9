import type { CommandOutput } from './command-output.ts'
import { refuseTakenOptions } from './npm-options.ts'
import { OptionError, ToolError } from './tool-error.ts'

export interface ToolDescription {
  /** The lines that show how to call the command. */
  readonly usage: string
  /** The names of the command's options. */
  readonly options: readonly string[]
}

/**
 * Runs a command, after checking that npm has taken none of its options. Returns the exit code:
 * that of the work, 1 if it was stopped, or 2 for wrong options. A refusal says why, and what to do
 * next.
 */
export async function runTool(
  { usage, options }: ToolDescription,
  args: readonly string[],
  { stderr }: Pick<CommandOutput, 'stderr'>,
  work: () => Promise<number>,
): Promise<number> {
  try {
    refuseTakenOptions(options, args, process.env)
    return await work()
  } catch (error) {
    if (error instanceof ToolError) {
      stderr.write(`Stopped: ${error.why}.\nWhat to do: ${error.next}.\n`)
      return 1
    }
    if (!(error instanceof OptionError) && !isOfParseArgs(error)) throw error
    stderr.write(`${error.message}\n${usage}\n`)
    return 2
  }
}

/** Whether this is node's error about an unknown option, or about one without its value. */
function isOfParseArgs(error: unknown): error is TypeError {
  return error instanceof TypeError && String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')
}
