/** Wrangler's options for the database of an environment ('' is the top level), or of this machine where it is undefined. */
export function databaseOf(env: string | undefined): readonly string[] {
  return env === undefined ? ['--local', '--env='] : ['--remote', `--env=${env}`]
}
