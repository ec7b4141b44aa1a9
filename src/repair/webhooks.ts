/**
 * `npm run webhooks -- status`: how far each endpoint of `WEBHOOKS` has got. `npm run webhooks -- replay --endpoint <n> --from <id>`:
 * it gets the events from this one on again, with the next deliveries. Without `--production` or `--env <name>` it is the local
 * database's. Exit codes: 0 done, 1 refused, 2 wrong options.
 */
import { parseArgs } from 'node:util'
import * as z from 'zod/mini'
import { err, ok, type Result } from '../common/result.ts'
import { runWrangler } from '../deploy/run-wrangler.ts'
import { databaseOf } from './database-place.ts'
import { describeEndpoint, parseWebhookCommand, type WebhookCommand, webhookSql } from './webhooks-sql.ts'

const usage = `npm run webhooks -- status [--production | --env <name>]
npm run webhooks -- replay --endpoint <number> --from <id> [--production | --env <name>]`

const replySchema = z.tuple([
  z.object({
    results: z.array(
      z.object({
        number: z.number(),
        position: z.number(),
        attempts: z.number(),
        failing_since: z.nullable(z.number()),
        next_try: z.number(),
        set_aside: z.nullable(z.number()),
        waiting: z.number(),
      }),
    ),
  }),
])

process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (!options.ok) {
    process.stderr.write(`${options.error}\n${usage}\n`)
    return 2
  }
  const { place, command } = options.value
  const sql = webhookSql(command)
  const { code, output } = await runWrangler(['d1', 'execute', 'DB', ...place, '--json', '--command', sql], {
    isShown: false,
  })
  const reply = replySchema.safeParse(parseJson(output.slice(output.indexOf('['))))
  if (code !== 0 || !reply.success) {
    process.stderr.write(`Nothing is changed: ${output.trim() || 'wrangler did not start. Run "npm ci" first.'}\n`)
    return 1
  }
  const [{ results }] = reply.data
  for (const row of results) process.stdout.write(`${describeEndpoint(row)}\n`)
  if (results.length > 0) return 0
  if (command.kind === 'status') process.stdout.write('No endpoint has been delivered to yet.\n')
  else process.stderr.write('Nothing is changed: there is no such endpoint, or it has not got that event yet.\n')
  return command.kind === 'status' ? 0 : 1
}

function readOptions(
  args: string[],
): Result<{ readonly place: readonly string[]; readonly command: WebhookCommand }, string> {
  try {
    const text = { type: 'string' } as const
    const options = { endpoint: text, from: text, env: text, production: { type: 'boolean' } } as const
    const { values, positionals: words } = parseArgs({ args, options, allowPositionals: true })
    const { env, production } = values
    if (production && env !== undefined) return err('either --env or --production')
    const place = databaseOf(production ? '' : env)
    const command = parseWebhookCommand({ words, endpoint: values.endpoint, from: values.from })
    return command.ok ? ok({ place, command: command.value }) : command
  } catch (error) {
    return err(error instanceof Error ? error.message : 'unknown option')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
