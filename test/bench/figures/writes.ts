import { bundleService, bundleWorker } from '../bundles.ts'
import { compared, type Figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { alternate, perSecond, type Rounds } from '../rounds.ts'
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
    await measureDeposits(service.script, writing.script, scale),
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
  let round = 0
  const side = (action: 'post' | 'insert', entries: number) => () => {
    round += 1
    const posts = Math.max(20, Math.round((300 * work) / Math.sqrt(entries)))
    return perSecond(posts, () => getText(`${workers.url('post')}/${action}/${round}/${posts}/${entries}`))
  }
  try {
    const figures: Figure[] = []
    for (const entries of [1, 20]) {
      const all = await alternate(rounds, { post: side('post', entries), insert: side('insert', entries) })
      const name = `posts of ${entries === 1 ? 'one entry' : `${entries} entries`}, one after the other`
      figures.push(compared(name, 'posts/s', sidesOf(all, 'post', 'insert'), baselineName, 0.6))
    }
    return figures
  } finally {
    await workers.stop()
  }
}

/** From the node to the ledger: blocks full of deposits are read from two nodes, agreed and credited. */
async function measureDeposits(service: string, writing: string, { rounds }: Scale): Promise<Figure> {
  const scanning = await startScanning({ script: service, each: depositsEach, addresses: users, transactions: [0] })
  const bare = await startWorkers([{ name: 'insert', script: writing, database: 'bare' }], { bare: seedBare() })
  let round = 0
  try {
    const all = await alternate(rounds, {
      async credit() {
        await new Promise((resolve) => setTimeout(resolve, blockMs + 200)) // a scan that just ended is not repeated
        return perSecond(blocks * depositsEach, () => scanning.scan(blocks))
      },
      insert: () =>
        perSecond(blocks * depositsEach, async () => {
          for (let i = 0; i < blocks; i += 1) {
            round += 1
            await getText(`${bare.url('insert')}/deposits/${round}/${depositsEach}`)
          }
        }),
    })
    const name = `deposits credited, ${depositsEach} in a block, from two nodes to the ledger`
    return compared(name, 'deposits/s', sidesOf(all, 'credit', 'insert'), baselineName, 0.6)
  } finally {
    await bare.stop()
    await scanning.stop()
  }
}

function sidesOf<Side extends string>(rounds: Rounds<Side>, side: Side, baseline: Side) {
  return { value: rounds.median(side), baseline: rounds.median(baseline), ratio: rounds.ratio(side, baseline) }
}
