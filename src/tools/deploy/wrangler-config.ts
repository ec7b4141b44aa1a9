import { unstable_readConfig as readConfig, type Unstable_Config } from 'wrangler'
import { err, ok, type Result } from '../../common/result.ts'

/** What the commands use of wrangler.toml, for one environment. */
export interface WranglerConfig extends Pick<Unstable_Config, 'vars' | 'secrets'> {
  readonly configPath: string
  /** Whether the binding DB has a `database_id`. `wrangler d1 create` prints the one that replaces the placeholder. */
  readonly database: 'set' | 'placeholder' | 'missing'
}

/** Reads wrangler.toml of the working directory for `env`, as wrangler itself does; the top level is ''. */
export function readWranglerConfig(env: string | undefined): Result<WranglerConfig, string> {
  return attempt(() => {
    const { configPath, vars, secrets, d1_databases } = readConfig({ env }, { hideWarnings: true })
    if (configPath === undefined) throw new Error('there is no wrangler.toml in this directory.')
    const databases: readonly { readonly binding: string; readonly database_id?: string }[] = d1_databases
    const id = databases.find(({ binding }) => binding === 'DB')?.database_id
    const database = id === undefined ? 'missing' : /[1-9a-f]/i.test(id) ? 'set' : 'placeholder'
    return { configPath, vars, secrets, database }
  })
}

/**
 * The result of a function of wrangler, or one sentence: why it failed. A message of wrangler is a heading and a list,
 * whose first item is the reason.
 */
export function attempt<T>(read: () => T): Result<T, string> {
  try {
    return ok(read())
  } catch (error) {
    const lines = (error instanceof Error ? error.message : '').split('\n').map((line) => line.trim())
    const item = lines.find((line) => line.startsWith('- '))?.slice(2)
    return err(item ?? lines.find((line) => line !== '') ?? 'wrangler.toml cannot be read.')
  }
}
