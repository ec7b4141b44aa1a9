/**
 * Sends its parent process the target of a command, or why it cannot be read. `target-apart.ts`
 * runs this script.
 */
import { readTarget } from './target.ts'

// what `target-apart.ts` writes
const { env, cell } = JSON.parse(process.argv[2] ?? '{}') as { readonly env?: string; readonly cell?: string }
process.send?.(readTarget(env, cell), () => process.disconnect())
