import { unstable_readConfig as readConfig, type Unstable_Config } from 'wrangler'
import { err, ok, type Result } from '../../common/result.ts'

/** What the commands use of wrangler.toml, for one environment. */
export interface WranglerConfig extends Pick<Unstable_Config, 'vars' | 'secrets'> {
  readonly configPath: string
  /** Whether the binding DB has a `database_id`. `wrangler d1 create` prints the one that replaces the placeholder. */
  readonly database: 'set' | 'placeholder' | 'missing'
  /** What is wrong with the Durable Objects, each in one phrase. */
  readonly objectFaults: readonly string[]
}

/** The bindings of the Durable Objects, with their classes. */
const objects = [
  ['SCANNER', 'Scanner'],
  ['ENDPOINT', 'Endpoint'],
] as const

/** Reads wrangler.toml of the working directory for `env`, as wrangler itself does; the top level is ''. */
export function readWranglerConfig(env: string | undefined): Result<WranglerConfig, string> {
  return attempt(() => {
    const { configPath, vars, secrets, d1_databases, durable_objects, migrations } = readConfig(
      { env },
      { hideWarnings: true },
    )
    if (configPath === undefined) throw new Error('there is no wrangler.toml in this directory.')
    const databases: readonly { readonly binding: string; readonly database_id?: string }[] = d1_databases
    const id = databases.find(({ binding }) => binding === 'DB')?.database_id
    const database = id === undefined ? 'missing' : /[1-9a-f]/i.test(id) ? 'set' : 'placeholder'
    return { configPath, vars, secrets, database, objectFaults: findObjectFaults(durable_objects, migrations) }
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

function findObjectFaults(
  { bindings }: Pick<Unstable_Config['durable_objects'], 'bindings'>,
  migrations: Unstable_Config['migrations'],
): readonly string[] {
  const stored = migrations.flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes)
  return objects.flatMap(([name, className]) => {
    const isBound = bindings.some((one) => one.name === name && one.class_name === className)
    const unbound = isBound ? [] : [`no [[durable_objects.bindings]] with the name ${name} and the class ${className}`]
    const unknown = stored.includes(className) ? [] : [`no [[migrations]] with ${className} in new_sqlite_classes`]
    return [...unbound, ...unknown]
  })
}
