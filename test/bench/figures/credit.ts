import { busyBlock, firstHeight } from '../blocks.ts'
import { bundleService, bundleWorker } from '../bundles.ts'
import { atLeast, type Figure, type Scale, stated } from '../figure.ts'
import { getText } from '../load.ts'
import { startNode } from '../node-process.ts'
import { startPlatform } from '../platform.ts'
import { timed } from '../project.ts'
import { alternate } from '../rounds.ts'
import { startScanner } from '../scanning.ts'
import { seedBare, seedWatched, watchedAddress } from '../seeds.ts'
import type { Credited } from '../workers/crediting.ts'

const watched = 100_000
const deposits = busyBlock.transactions
const blocksAtFull = 10

/** Deposits credited per second from blocks that hold nothing else: by the ledger alone, and from node to ledger. */
export async function measureCrediting(scale: Scale): Promise<readonly Figure[]> {
  const { script } = await bundleWorker('crediting')
  const variables = { ADDRESSES: Array.from({ length: deposits }, (_, i) => watchedAddress(i)) }
  const platform = await startPlatform(
    [
      { name: 'credit', script, database: 'ledger', variables },
      { name: 'insert', script, database: 'bare', variables },
    ],
    { ledger: seedWatched(watched, true), bare: seedBare() },
  )
  const node = await startNode({ watched, fullFrom: firstHeight })
  const service = await bundleService()
  const scanner = await startScanner({ worker: service, node, database: seedWatched(watched, true), quorum: 1 })
  const blocks = Math.max(2, Math.round(blocksAtFull * scale.work))
  const next = { credit: 0, insert: 0 }
  const sizes: number[] = []
  const ask = async (name: 'credit' | 'insert', action: string): Promise<Credited> => {
    const text = await getText(`${platform.url(name)}/${action}/${next[name]}`)
    next[name] += 1
    return JSON.parse(text) as Credited // workers/crediting.ts
  }
  const run = (name: 'credit' | 'insert') => async () => {
    const { ms } = await timed(async () => {
      for (let i = 0; i < blocks; i += 1) {
        const { bytes } = await ask(name, name)
        if (name === 'credit') sizes.push(bytes)
      }
    })
    return ((blocks * deposits) / ms) * 1000
  }
  const scanned = async () => (deposits / (await scanner.scan(1))) * 1000
  try {
    const rounds = await alternate(scale.rounds, { credit: run('credit'), insert: run('insert'), scanned })
    const beside = { name: 'raw D1 batch inserts of the same rows', value: rounds.median('insert') }
    const row = (side: 'credit' | 'scanned', name: string, reach: number | null, note: string): Figure => {
      const ratio = rounds.ratio(side, 'insert')
      const isReached = reach === null ? null : atLeast(reach, ratio)
      return { name, value: rounds.median(side), unit: 'deposits/s', beside, ratio, reach: isReached, note }
    }
    const [first = 0, last = 0] = [sizes[0], sizes.at(-1)]
    const { rowsWritten } = await ask('credit', 'rows')
    return [
      row('credit', `deposits credited, ${deposits} in a block`, 0.6, 'one statement; triggers check and book each'),
      row('scanned', 'the same from node to ledger', null, 'with the receipts of all of them, 18 in a request'),
      stated(
        'D1 bytes of a deposit',
        (last - first) / ((sizes.length - 1) * deposits),
        'bytes',
        'deposit, entry, indexes',
      ),
      stated('D1 rows written for a deposit', rowsWritten / deposits, 'rows', 'as D1 counts them, indexes included'),
    ]
  } finally {
    node.stop()
    await scanner.platform.stop()
    await platform.stop()
  }
}
