import { bundleService, bundleWorker } from '../bundles.ts'
import { comparedSpeeds, type Figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { workerdProcesses } from '../processes.ts'
import { alternateSpeeds, speedOf } from '../rounds.ts'
import { startScanning } from '../scanning.ts'
import { seedAddresses, seedBare } from '../seeds.ts'
import { noNode, serviceVariables } from '../variables.ts'

const depositsEach = 400
const users = 400
const blocks = 5
const baselineName = 'raw D1 batch inserts of the same rows'
const blockMs = 3_000

/** Posts and deposits per second, compared with raw inserts of the same rows. */
export async function measureWrites(scale: Scale): Promise<readonly Figure[]> {
  const [service, writing] = [await bundleService(), await bundleWorker('writing')]
  return [
    ...(await measurePosts(service.script, writing.script, scale)),
    ...(await measureDeposits(service.script, writing.script, scale)),
  ]
}

async function measurePosts(service: string, writing: string, { rounds, work }: Scale): Promise<readonly Figure[]> {
  const variables = serviceVariables([noNode])
  const workers = await startWorkers(
    [
      { name: 'service', script: service, database: 'ledger', variables, hasObjects: true },
      {
        name: 'post',
        script: writing,
        database: 'bare',
        services: { LEDGER: { worker: 'service', exportName: 'Ledger' } },
      },
    ],
    { ledger: seedAddresses(10), bare: seedBare() },
  )
  const processes = workerdProcesses()
  let round = 0
  const side = (action: 'post' | 'insert', entries: number) => () => {
    round += 1
    const posts = Math.max(20, Math.round((300 * work) / Math.sqrt(entries)))
    return speedOf(processes, async () => {
      await getText(`${workers.url('post')}/${action}/${round}/${posts}/${entries}`)
      return posts
    })
  }
  try {
    const figures: Figure[] = []
    for (const entries of [1, 20]) {
      const all = await alternateSpeeds(rounds, { post: side('post', entries), insert: side('insert', entries) })
      const name = `posts of ${entries === 1 ? 'one entry' : `${entries} entries`}, one after the other`
      figures.push(...comparedSpeeds(name, 'posts', all, ['post', 'insert'], baselineName, { speedMin: 0.6 }))
    }
    return figures
  } finally {
    await workers.stop()
  }
}

/**
 * From the node to the ledger: blocks full of deposits are read from two nodes, agreed and
 * credited.
 */
async function measureDeposits(service: string, writing: string, { rounds }: Scale): Promise<readonly Figure[]> {
  const scanning = await startScanning({ script: service, each: depositsEach, addresses: users, transactions: [0] })
  const others = new Set(workerdProcesses())
  const bare = await startWorkers([{ name: 'insert', script: writing, database: 'bare' }], { bare: seedBare() })
  const inserting = workerdProcesses().filter((pid) => !others.has(pid))
  let round = 0
  try {
    const all = await alternateSpeeds(rounds, {
      async credit() {
        // a scan that ended less than a block time ago is not repeated
        await new Promise((resolve) => setTimeout(resolve, blockMs + 200))
        return speedOf(scanning.processes, async () => {
          await scanning.scan(blocks)
          return blocks * depositsEach
        })
      },
      insert: () =>
        speedOf(inserting, async () => {
          for (let i = 0; i < blocks; i += 1) {
            round += 1
            await getText(`${bare.url('insert')}/deposits/${round}/${depositsEach}`)
          }
          return blocks * depositsEach
        }),
    })
    const name = `deposits credited, ${depositsEach} in a block, from two nodes to the ledger`
    return comparedSpeeds(name, 'deposits', all, ['credit', 'insert'], baselineName, { speedMin: 0.6 })
  } finally {
    await bare.stop()
    await scanning.stop()
  }
}
