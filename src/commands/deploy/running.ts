import * as z from 'zod/mini'
import { err, ok, type Result } from '../../worker/common/result.ts'
import { lastPrinted } from '../child-environment.ts'
import type { ConfigurationSource } from '../configuration.ts'
import { loginAdvice } from '../database.ts'
import { plainText } from '../node-replies.ts'
import { jsonAmong, queryMsMax, runWrangler } from '../wrangler.ts'

/** The upload that a deployment runs, as the platform describes it. */
export interface RunningUpload {
  /** Its id: the one that a rollback takes. */
  readonly id: string
  /** The version that `npm run deploy` has given it as its tag; null without one. */
  readonly tag: string | null
  /** The newest tag of the classes of its Durable Objects; null if it is not known. */
  readonly objectsTag: string | null
  /** Variables, secrets by name alone, and databases. */
  readonly bindings: readonly RunningBinding[]
}

const deployments = z.array(
  z.object({
    created_on: z.string(),
    versions: z.array(z.object({ version_id: z.string().check(z.regex(/^[\w-]{1,64}$/)), percentage: z.number() })),
  }),
)
const binding = z.object({
  type: z.string(),
  name: z.string(),
  text: z.optional(z.string()),
  json: z.optional(z.unknown()),
  id: z.optional(z.string()),
  database_id: z.optional(z.string()),
})
type RunningBinding = z.infer<typeof binding>
const upload = z.object({
  annotations: z.optional(z.object({ 'workers/tag': z.optional(z.string()) })),
  resources: z.object({
    bindings: z.array(binding),
    script_runtime: z.optional(z.object({ migration_tag: z.optional(z.string()) })),
  }),
})

/** The code of the platform's answer about a Worker that was never deployed. */
const noWorker = /\[code: 10007\]/

/**
 * Asks the platform which upload of the environment runs. Null if nothing was deployed yet; the
 * error says why it is not known.
 */
export async function readRunning(env: string): Promise<Result<RunningUpload | null, string>> {
  const listed = await ask(deployments, 'deployments', 'list', '--json', `--env=${env}`)
  if (!listed.ok) return noWorker.test(listed.error.output) ? ok(null) : err(listed.error.why)
  const newest = listed.value.toSorted((a, b) => (a.created_on < b.created_on ? -1 : 1)).at(-1)
  // where two uploads share the requests, the one with more of them
  const [most] = (newest?.versions ?? []).toSorted((a, b) => b.percentage - a.percentage)
  if (most === undefined) return ok(null)
  const { version_id: id } = most
  const viewed = await ask(upload, 'versions', 'view', id, '--json', `--env=${env}`)
  if (!viewed.ok) return err(viewed.error.why)
  const { annotations, resources } = viewed.value
  const tag = annotations?.['workers/tag']
  return ok({
    id,
    tag: tag === undefined ? null : plainText(tag),
    objectsTag: resources.script_runtime?.migration_tag ?? null,
    bindings: resources.bindings,
  })
}

async function ask<T>(
  schema: z.ZodMiniType<T>,
  ...args: readonly string[]
): Promise<Result<T, { readonly why: string; readonly output: string }>> {
  const { code, out, output, failure } = await runWrangler(args, queryMsMax)
  const reply = jsonAmong(out, (value) => {
    const { success, data } = schema.safeParse(value)
    return success ? data : undefined
  })
  if (code === 0 && reply !== undefined) return ok(reply)
  const command = `wrangler ${args.slice(0, 2).join(' ')}`
  if (loginAdvice.pattern.test(output)) return err({ why: `${command} may not use the account`, output })
  // an answer of another form may have the values of variables, so nothing of it is printed
  const printed = code === 0 ? 'an answer of another form' : lastPrinted(output)
  return err({ why: failure ?? `${command}: ${printed}`, output })
}

/** The names of what differs between the running upload and the configuration. */
export interface SettingChanges {
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Secrets that are known here and that the platform does not have. */
  readonly missingSecrets: readonly string[]
}

/**
 * Compares the running upload with the configuration: variables and databases by value, secrets by
 * name, because the platform shows no value of a secret. It returns only names.
 */
export function compareSettings(
  { bindings }: RunningUpload,
  { vars, all, databases, worker }: Pick<ConfigurationSource, 'vars' | 'all' | 'databases' | 'worker'>,
): SettingChanges {
  const variables = Object.entries(vars).map(([name, value]) => [name, canonical(value)] as const)
  const configured = new Map([...variables, ...databases.map((one) => [one.binding, one.database_id ?? ''] as const)])
  const running = new Map(
    bindings.flatMap(({ type, name, text, json, id, database_id }): [string, string][] => {
      if (type === 'plain_text') return [[name, canonical(text)]]
      if (type === 'json') return [[name, canonical(json)]]
      return type === 'd1' ? [[name, id ?? database_id ?? '']] : []
    }),
  )
  const secrets = new Set(bindings.flatMap(({ type, name }) => (type.startsWith('secret') ? [name] : [])))
  const isElsewhere = (name: string) => configured.has(name) || secrets.has(name) || running.has(name)
  const names = (list: Iterable<string>) => [...list].map(plainText).sort((a, b) => (a < b ? -1 : 1))
  return {
    changed: names(
      [...configured.keys()].filter((name) => running.has(name) && running.get(name) !== configured.get(name)),
    ),
    added: names([...configured.keys()].filter((name) => !running.has(name))),
    removed: names(worker.keepsVars ? [] : [...running.keys()].filter((name) => !configured.has(name))),
    missingSecrets: names(Object.keys(all).filter((name) => all[name] !== '' && !isElsewhere(name))),
  }
}

/** A value as text, the same for two lists or objects with the same members in any order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}
