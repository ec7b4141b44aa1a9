import { runAudit } from '../../../src/commands/audit/command.ts'
import { runRebuild } from '../../../src/commands/audit/rebuild-command.ts'
import { createCommandTime } from '../../support/command-time.ts'

/**
 * Runs `verify` or `rebuild` of `npm run audit` with these words. Returns its exit code, and what
 * it prints.
 */
export async function audit(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const printed: string[] = []
  const stream = { write: (text: string | Uint8Array) => printed.push(String(text)) }
  const output = { stdout: stream, stderr: stream }
  const isRebuild = args[0] === 'rebuild'
  const code = await (isRebuild ? runRebuild(args, output, createCommandTime()) : runAudit(args, output))
  return { code, text: printed.join('') }
}
