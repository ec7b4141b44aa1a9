import { parseEnv } from 'node:util'
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare'
import { copyBucket } from './copy-bucket.ts'
import type { WorkerBuild } from './kept-build.ts'

/** The binding of the archive's bucket. */
const bucketName = 'ARCHIVE_BUCKET'

/** The Worker, running on this machine. */
export interface LocalWorker {
  /** Its URL, without a slash at its end. */
  readonly url: string
  /** Runs the cron handler, as the platform does each minute; resolves when it has ended. */
  cron(): Promise<void>
  stop(): Promise<void>
}

export interface LocalWorkerOptions {
  /** The folder with its databases and objects, in wrangler's layout. */
  readonly state: string
  /** 0 for one that is free. */
  readonly port: number
  /** The text of `.dev.vars`. */
  readonly variables: string
  /** Variables that replace those of `.dev.vars`. */
  readonly changes: Readonly<Record<string, string>>
  /** A folder with what the bucket of the archive has; without it there is no archive. */
  readonly archive?: string
  /** Gets each line of the Worker. */
  readonly print: (line: string) => void
}

/**
 * Starts a build of the Worker in workerd, as `wrangler dev` would; resolves when it can answer.
 */
export async function startWorker(
  { script, options, bindings }: WorkerBuild,
  { state, port, variables, changes, archive, print }: LocalWorkerOptions,
): Promise<LocalWorker> {
  // safe: each name in a file of variables has a value
  const own = parseEnv(variables) as Readonly<Record<string, string>>
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      host: '127.0.0.1',
      port,
      modules: [{ type: 'ESModule', path: 'index.js', contents: script }],
      bindings: { ...bindings, ...own, ...(archive === undefined ? {} : { ARCHIVE: bucketName }), ...changes },
      ...(archive === undefined ? {} : { r2Buckets: [bucketName] }),
      resourcePersistencePath: state,
      unsafeTriggerHandlers: true,
      cf: false, // without this, Miniflare fetches the `cf` object of requests from the network
      telemetry: { enabled: false },
      log: new Log(LogLevel.ERROR),
      logRequests: false,
      handleStructuredLogs: ({ message }) => {
        for (const line of message.split('\n')) print(line)
      },
    }),
  )
  const url = await miniflare.ready
  const copyArchive = async () => {
    if (archive !== undefined) await copyBucket(await miniflare.getR2Bucket(bucketName), archive)
  }
  return {
    url: url.origin,
    async cron() {
      const worker = await miniflare.getWorker()
      await worker.scheduled({ cron: '* * * * *' })
      await copyArchive()
    },
    async stop() {
      await copyArchive()
      await miniflare.dispose()
    },
  }
}
