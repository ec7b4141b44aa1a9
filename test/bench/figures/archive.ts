import { bundleService, bundleWorker } from '../bundles.ts'
import { comparedSpeeds, type Figure, figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { type RunningWorkers, startWorkers } from '../miniflare.ts'
import { workerdProcesses } from '../processes.ts'
import { alternateSpeeds, type Speed, speedOf } from '../rounds.ts'
import { startScanning } from '../scanning.ts'
import { seedAddresses } from '../seeds.ts'
import { noNode, serviceVariables } from '../variables.ts'

/** The archive pauses for 30 s: so it begins a run, and ends it, in each round of its side. */
const roundMs = 40_000
/** Deposits in a block, and blocks of a round: reading them takes as long. */
const [depositsEach, depositBlocks] = [400, 120]
/** A scan that ended less than a block time ago is not repeated. */
const scanPauseMs = 3_200
/** The lowest ratio of a speed with an archive to that without. */
const ratioMin = 0.97
const archivedTimeoutMs = 120_000

/** Posts and deposits a second of a service that is archived, beside one that is not. */
export async function measureArchive(scale: Scale): Promise<readonly Figure[]> {
  return [...(await measurePosts(scale)), ...(await measureDeposits(scale))]
}

async function measurePosts({ rounds, work }: Scale): Promise<readonly Figure[]> {
  const [service, writing] = [await bundleService(), await bundleWorker('writing')]
  const plain = serviceVariables([noNode])
  const ofSide = (side: string, more: object, variables: object) => [
    {
      name: side,
      script: service.script,
      database: side,
      variables: { ...plain, ...variables },
      hasObjects: true,
      ...more,
    },
    {
      name: `${side}-post`,
      script: writing.script,
      database: `${side}-bare`,
      services: { LEDGER: { worker: side, exportName: 'Ledger' } },
    },
  ]
  const seeded = seedAddresses(10)
  const workers = await startWorkers(
    [...ofSide('archived', { bucket: 'archive' }, { ARCHIVE: 'BUCKET' }), ...ofSide('plain', {}, {})],
    { archived: seeded, plain: seeded },
  )
  const processes = workerdProcesses()
  let round = 0
  const side = (name: string) => () =>
    speedOf(processes, async () => {
      const end = performance.now() + roundMs * work
      let posts = 0
      while (performance.now() < end) {
        round += 1
        await getText(`${workers.url(`${name}-post`)}/post/${round}/100/1`)
        posts += 100
      }
      return posts
    })
  try {
    for (const name of ['archived', 'plain']) await workers.cron(name) // wakes the archive
    const archived = watchArchive(workers, 'archived', side('archived'))
    const all = await alternateSpeeds(rounds, { archived: archived.round, plain: side('plain') })
    const name = 'posts of one entry with an archive, one after the other'
    const limits = { speedMin: ratioMin }
    return [...comparedSpeeds(name, 'posts', all, ['archived', 'plain'], 'posts without one', limits), archived.share()]
  } finally {
    await workers.stop()
  }
}

/** From the node to the ledger: blocks full of deposits are read from two nodes and credited. */
async function measureDeposits({ rounds, work }: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleService()
  const usual = { script, each: depositsEach, addresses: depositsEach, transactions: [0] }
  const archived = await startScanning({ ...usual, bucket: 'archive', variables: { ARCHIVE: 'BUCKET' } })
  const plain = await startScanning(usual)
  const blocks = Math.ceil(depositBlocks * work)
  const side =
    ({ processes, scan }: typeof plain) =>
    async () => {
      await wait(scanPauseMs)
      return speedOf(processes, async () => {
        await scan(blocks)
        return blocks * depositsEach
      })
    }
  try {
    const watched = watchArchive(archived.workers, 'service', side(archived))
    const all = await alternateSpeeds(rounds, { archived: watched.round, plain: side(plain) })
    const name = `deposits credited with an archive, ${depositsEach} in a block`
    const limits = { speedMin: ratioMin }
    return [
      ...comparedSpeeds(name, 'deposits', all, ['archived', 'plain'], 'deposits without one', limits),
      watched.share(),
    ]
  } finally {
    await archived.stop()
    await plain.stop()
  }
}

/**
 * The rounds of an archived side. Each begins when a run of the archive has ended, and after it the
 * other side waits until the rest is archived. `share`: how much was archived within the rounds.
 */
function watchArchive({ look }: RunningWorkers, name: string, measure: () => Promise<Speed>) {
  const lines = () => look(name, 'SELECT lines FROM archive') ?? 0
  const isArchived = 'SELECT (SELECT event FROM archive) = (SELECT id FROM last_event)'
  const untilArchived = async () => {
    const giveUpAt = Date.now() + archivedTimeoutMs
    while (look(name, isArchived) !== 1) {
      if (Date.now() > giveUpAt) throw new Error('the archive does not follow')
      await wait(100)
    }
  }
  let [within, all] = [0, 0]
  return {
    async round() {
      await untilArchived()
      const before = lines()
      const speed = await measure()
      within += lines() - before
      await untilArchived()
      all += lines() - before
      return speed
    },
    share: () => figure('of its lines, written while it was measured', (within / all) * 100, '%'),
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
