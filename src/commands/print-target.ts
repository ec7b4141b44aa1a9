/** Sends its parent on what a command of an environment acts, or why that cannot be read: see `target-apart.ts`, which runs it. */
import { readTarget } from './target.ts'

const { env } = JSON.parse(process.argv[2] ?? '{}') as { readonly env?: string } // what `target-apart.ts` writes
process.send?.(readTarget(env), () => process.disconnect())
