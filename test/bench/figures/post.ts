import { SignJWT } from 'jose'
import { backendSecret } from '../../support/variables.ts'
import { bundleService, bundleWorker } from '../bundles.ts'
import { compareSides, type Figure, type Scale, singleFigure } from '../figure.ts'
import { getText, postForJson } from '../load.ts'
import { type RunningWorkers, startWorkers } from '../miniflare.ts'
import { startNode } from '../node-process.ts'
import { alternate, median, perSecond } from '../rounds.ts'
import { startScanner } from '../scanner.ts'
import { seedBare, seedWatched } from '../seeds.ts'

const postsFull = 300
const blocksFull = 200
const postsDuringScan = 100

/** Posts of backends per second, and how long one takes while a scan catches up. */
export async function measurePosting(scale: Scale): Promise<readonly Figure[]> {
  return [...(await measureSpeed(scale)), ...(await measureDuringScan(scale))]
}

async function measureSpeed(scale: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleWorker('posting')
  const workers = await startWorkers(
    [
      { name: 'post', script, database: 'ledger' },
      { name: 'insert', script, database: 'bare' },
    ],
    { ledger: seedWatched(10, true), bare: seedBare() },
  )
  let round = 0
  const side = (name: 'post' | 'insert', entries: number) => () => {
    round += 1
    const posts = Math.max(20, Math.round((postsFull * scale.work) / Math.sqrt(entries)))
    return perSecond(posts, () => getText(`${workers.url(name)}/${name}/${round}/${posts}/${entries}`))
  }
  try {
    const figures: Figure[] = []
    for (const entries of [1, 20]) {
      const rounds = await alternate(scale.rounds, { post: side('post', entries), insert: side('insert', entries) })
      figures.push(
        compareSides(rounds, 'post', 'insert', {
          name: `posts of ${entries === 1 ? 'one entry' : `${entries} entries`}, one after the other`,
          unit: 'posts/s',
          baselineName: 'raw D1 batch inserts of the same rows',
          ratioMin: 0.6,
          note: 'parsed, compared with known keys and balances, and checked by triggers',
        }),
      )
    }
    return figures
  } finally {
    await workers.stop()
  }
}

/** The time of a post over HTTP, with and without a scan in the same Worker. */
async function measureDuringScan(scale: Scale): Promise<readonly Figure[]> {
  const node = await startNode({ watched: 1_000, depositsFrom: Number.POSITIVE_INFINITY })
  const scanner = await startScanner({
    worker: await bundleService(),
    node,
    database: seedWatched(1_000, true),
    quorum: 1,
  })
  const send = await sender(scanner.workers)
  try {
    const idle: number[] = []
    for (let i = 0; i < 60; i += 1) idle.push(await send())
    const busy: number[] = []
    let isScanning = true
    const scan = scanner.scan(Math.max(100, Math.round(blocksFull * scale.work))).finally(() => {
      isScanning = false
    })
    while (isScanning && busy.length < postsDuringScan) busy.push(await send())
    await scan
    return [
      singleFigure('a post over HTTP while nothing else runs', median(idle), 'ms', 'median, from the same machine'),
      singleFigure('a post over HTTP while a scan catches up', median(busy), 'ms', `median of ${busy.length} posts`),
    ]
  } finally {
    node.stop()
    await scanner.workers.stop()
  }
}

/** Sends one post after the other; each call returns the milliseconds of one. */
async function sender(workers: RunningWorkers): Promise<() => Promise<number>> {
  const claims = new SignJWT({ scope: 'ledger:post' }).setProtectedHeader({ alg: 'HS256' }).setSubject('bench')
  const token = await claims.setExpirationTime('1h').sign(new TextEncoder().encode(backendSecret))
  let sent = 0
  return async () => {
    sent += 1
    const entries = [{ uid: 1, cuy: 1, type: 5, osn: `order ${sent}`, amt: '1' }]
    const start = performance.now()
    await postForJson(`${workers.url('scanner')}/ledger/entries`, { entries }, { authorization: `Bearer ${token}` })
    return performance.now() - start
  }
}
