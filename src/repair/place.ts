import { err, ok, type Result } from '../common/result.ts'

/** Options that say which database: a deployment's, or without any the local one. */
export const placeOptions = { env: { type: 'string' }, production: { type: 'boolean' } } as const

/** Wrangler's options for that database, or one sentence: what is wrong with them. */
export function readPlace({
  env,
  production,
}: {
  readonly env?: string | undefined
  readonly production?: boolean | undefined
}): Result<readonly string[], string> {
  if (production && env !== undefined) return err('either --env or --production')
  return ok(production || env !== undefined ? ['--remote', `--env=${env ?? ''}`] : ['--local', '--env='])
}
