import { bundleService, bundleWorker } from '../bundles.ts'
import { comparedSpeeds, type Figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { workerdProcesses } from '../processes.ts'
import { alternateSpeeds, speedOf } from '../rounds.ts'
import { seedAddresses } from '../seeds.ts'
import { noNode, serviceVariables } from '../variables.ts'

/** The archive pauses for 30 s: so it writes segments in most rounds of both sides. */
const roundMs = 20_000
/** The lowest ratio of posts with an archive to posts without. */
const ratioMin = 0.97

/** Posts a second of a service that is archived, beside one that is not. */
export async function measureArchive({ rounds, work }: Scale): Promise<readonly Figure[]> {
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
    const all = await alternateSpeeds(rounds, { archived: side('archived'), plain: side('plain') })
    if ((workers.look('archived', 'SELECT lines FROM archive') ?? 0) === 0) throw new Error('nothing was archived')
    const name = 'posts of one entry with an archive, one after the other'
    return comparedSpeeds(name, 'posts', all, ['archived', 'plain'], 'posts without one', { speedMin: ratioMin })
  } finally {
    await workers.stop()
  }
}
