import { tokenOf } from './answers.ts'
import { bucketName, type Deployment, type OpenDatabase, openBucket } from './deployment.ts'
import { type NodeWorker, startInNode } from './node-worker.ts'
import { type Stage, type Surroundings, surround } from './stage.ts'

/** A bundle of the Worker in this process, over a deployment. */
export interface NodeStage extends Stage {
  readonly worker: NodeWorker
  /** The log lines of errors and alarms. */
  readonly errors: readonly string[]
}

/** Starts a bundle at the moment at which the deployment stopped. */
export function startNodeStage(
  name: string,
  script: string,
  deployment: Deployment,
  databases: Readonly<Record<string, OpenDatabase>>,
): NodeStage {
  const { nowMs, variables, bucket, objects } = deployment
  const around = surround(deployment)
  const errors: string[] = []
  const buckets = bucket === null ? {} : { [bucketName]: openBucket(new Map(Object.entries(bucket))) }
  const bound = Object.fromEntries(Object.entries(databases).map(([binding, { db }]) => [binding, db]))
  const worker = startInNode(script, {
    bindings: { ...variables, ...bound, ...buckets },
    objects,
    startMs: nowMs,
    fetch: around.fetch,
    print: (line) => line.includes('"level":"error"') && errors.push(line),
  })
  let clockMs = nowMs
  for (const database of Object.values(databases)) database.now = () => clockMs
  return {
    name,
    worker,
    errors,
    async send(as, path, body) {
      const [, method, given = '[]'] = /^RPC (\w+) (.*)$/.exec(path) ?? []
      if (method !== undefined) {
        const answer = await worker.call(method, JSON.parse(given) as readonly unknown[]) // safe: see `listCalls`
        return { status: 200, reason: null, body: JSON.stringify(answer) }
      }
      const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
      const headers = { ...(await tokenOf(as, clockMs)), 'content-type': 'application/json' }
      const response = await worker.fetch(new Request(`https://wallet.example${path}`, { ...post, headers }))
      return { status: response.status, reason: response.headers.get('x-reason'), body: await response.text() }
    },
    async mine(...specs) {
      // in a block that is made after all that was asked for
      around.chain.add(specs, Math.max(around.chain.tip().timeMs, Math.floor(clockMs / 1000) * 1000) + 3_000)
      around.chain.addEmpty(finalityOf(around))
      clockMs = around.chain.tip().timeMs + 3_000
      worker.moveTo(clockMs)
      await worker.tick('scanner')
    },
    settled: () => worker.settled(),
    head: () => headOf(around),
  }
}

const finalityOf = ({ nodes }: Surroundings) => nodes[0]?.finalityLag ?? 0

/** The newest final block of the nodes. */
export function headOf(around: Surroundings) {
  const block = around.chain.at(around.chain.tip().height - finalityOf(around))
  if (block === undefined) throw new Error('the chain is too short')
  return { height: block.height, hash: block.hash, timestamp: block.timeMs }
}
