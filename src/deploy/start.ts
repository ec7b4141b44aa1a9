/**
 * `npm run deploy [-- --env <name>]`: brings the database to the newest migration, then deploys the Worker. It stops at
 * the first step that fails. Migrations only go forward: those that the database has are never run again, and nothing
 * here deletes or rewrites what is stored. The Worker comes last, as new code may need the new tables.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { unstable_readConfig as readWrangler } from 'wrangler'

/** Why it stopped: one sentence for the person at the terminal, or for the log of a build. */
class Stop extends Error {}

/** The part of wrangler's own type that is read here. */
interface WranglerConfig {
  readonly configPath?: string | undefined
  readonly d1_databases: readonly { readonly binding: string; readonly database_id?: string | undefined }[]
}

/** What wrangler says where it stops, and what to do then. The rest of its output speaks for itself. */
const advice: readonly (readonly [said: RegExp, then: string])[] = [
  [
    /CLOUDFLARE_API_TOKEN|not logged in|Authentication error/i,
    'Log in with "npx wrangler login", or set CLOUDFLARE_API_TOKEN.',
  ],
  [/More than one account/i, 'Set CLOUDFLARE_ACCOUNT_ID to the account that is meant.'],
]

try {
  const env = readEnv(process.argv.slice(2))
  requireDatabase(env)
  await step('The migrations could not be applied', ['d1', 'migrations', 'apply', 'DB', '--remote', `--env=${env}`])
  await step('The migrations are applied, but the Worker could not be deployed', ['deploy', `--env=${env}`])
} catch (error) {
  if (!(error instanceof Stop)) throw error
  process.stderr.write(`\nStopped: ${error.message}\n`)
  process.exitCode = 1
}

/** The environment's name; empty is the top level. Any other option is refused: each step would take it differently. */
function readEnv(args: string[]): string {
  try {
    return parseArgs({ args, options: { env: { type: 'string' } } }).values.env ?? ''
  } catch (error) {
    throw new Stop(`${messageOf(error)}. Usage: npm run deploy [-- --env <name>]`)
  }
}

/** Refuses what wrangler would only find out half-way, or with a puzzling answer of the platform. */
function requireDatabase(env: string): void {
  const { configPath, d1_databases: databases } = readConfig(env)
  if (configPath === undefined) throw new Stop('there is no wrangler.toml in this directory.')
  const id = databases.find(({ binding }) => binding === 'DB')?.database_id
  const section = env === '' ? 'wrangler.toml' : `wrangler.toml, [env.${env}],`
  if (id === undefined) throw new Stop(`${section} has no D1 database with the binding DB and a database_id.`)
  if (/[1-9a-f]/i.test(id)) return
  throw new Stop(`database_id in ${section} is a placeholder: "npx wrangler d1 create <name>" prints the real one.`)
}

function readConfig(env: string): WranglerConfig {
  try {
    return readWrangler({ env }, { hideWarnings: true })
  } catch (error) {
    const lines = messageOf(error).split('\n')
    throw new Stop((lines.find((line) => line.trim().startsWith('- ')) ?? lines[0] ?? '').replace(/^\s*- /, ''))
  }
}

/** Runs one wrangler command. It can ask nothing: a build has nobody to answer, so it takes what it would suggest. */
async function step(failure: string, args: readonly string[]): Promise<void> {
  process.stdout.write(`> wrangler ${args.join(' ')}\n`)
  const env = { ...process.env, CI: '1' }
  const child = spawn('wrangler', args, { env, stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' })
  let output = ''
  const pass = (to: NodeJS.WriteStream) => (chunk: Buffer) => {
    output += chunk.toString()
    to.write(chunk)
  }
  child.stdout.on('data', pass(process.stdout))
  child.stderr.on('data', pass(process.stderr))
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)) // not found: then nothing was said
    child.once('close', resolve)
  })
  if (code === 0) return
  if (output === '') throw new Stop(`${failure}: wrangler did not start. Run "npm ci", then "npm run deploy".`)
  throw new Stop(`${failure}. ${advice.find(([said]) => said.test(output))?.[1] ?? 'wrangler says why above.'}`)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown trouble'
}
