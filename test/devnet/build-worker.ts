/**
 * `build-worker.ts <configuration of wrangler>` bundles the Worker and prints a `WorkerBuild` as
 * JSON. It bundles as wrangler does for a deployment, and reads the configuration by wrangler's own
 * functions.
 */
import { build } from 'esbuild'
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler'
import { workerBundle } from '../http/openapi/licences.ts'
import type { WorkerBuild } from './kept-build.ts'

process.env.WRANGLER_LOG = 'none' // what it would say would be among the JSON
const config = unstable_readConfig({ config: process.argv[2] })
const { workerOptions, define, main } = unstable_getMiniflareWorkerOptions(config)
// safe: the types of wrangler know only databases of a newer form
const databases = config.d1_databases as readonly { database_id: string; preview_database_id?: string }[]
const { outputFiles } = await build({
  entryPoints: [String(main)],
  ...workerBundle,
  define: { ...define, 'process.env.NODE_ENV': '"production"' },
})
const { modulesRules: _, ...options } = workerOptions
// `.dev.vars` is read at each start, and not kept.
const made: WorkerBuild = {
  script: outputFiles[0]?.text ?? '',
  options: { ...options, name: config.name },
  bindings: config.vars,
  databases: databases.map((one) => one.preview_database_id ?? one.database_id),
}
process.stdout.write(JSON.stringify(made))
