/**
 * `npm run webhooks -- status`: how far each endpoint of `WEBHOOKS` is. `npm run webhooks -- replay --endpoint <n> --from <id>`:
 * it gets the events from this one on again, with the next deliveries. Without `--production` or `--env <name>` it is the local
 * database's. Exit codes: 0 done, 1 refused, 2 wrong options.
 */
import * as z from 'zod/mini'
import { parseJson } from '../../common/parse-json.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { type CommandOptions, executeSql, explainFailure, runCommand } from './command.ts'
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

process.exitCode = await runCommand(
  { usage, options: ['endpoint', 'from'], takesWords: true, parse, run },
  process.argv.slice(2),
)

function parse({ words, values }: CommandOptions): Result<WebhookCommand, string> {
  return parseWebhookCommand({ words, endpoint: values.endpoint, from: values.from })
}

async function run(command: WebhookCommand, env: string | undefined): Promise<Result<string, string>> {
  const ended = await executeSql(env, webhookSql(command))
  const reply = replySchema.safeParse(parseJson(ended.out))
  if (ended.code !== 0 || !reply.success) return err(explainFailure(ended))
  const [{ results }] = reply.data
  if (results.length > 0) return ok(results.map(describeEndpoint).join('\n'))
  return command.kind === 'status'
    ? ok('No endpoint has been delivered to yet.')
    : err('there is no such endpoint, or it has not received that event yet.')
}
