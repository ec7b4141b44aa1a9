import { busyBlock, firstHeight } from '../block-templates.ts'
import { bundleService, bundleWorker } from '../bundles.ts'
import { compareSides, type Figure, type Scale, singleFigure } from '../figure.ts'
import { getText } from '../load.ts'
import { type RunningWorkers, startWorkers } from '../miniflare.ts'
import { startNode } from '../node-process.ts'
import { alternate, perSecond, type Rounds } from '../rounds.ts'
import { startScanner } from '../scanner.ts'
import { seedBare, seedWatched, watchedAddress } from '../seeds.ts'
import type { CreditResult } from '../workers/crediting.ts'

const watched = 100_000
const deposits = busyBlock.transactions
const blocksFull = 10

/**
 * Deposits credited per second from blocks that contain only deposits: by the ledger alone, and from node to ledger.
 */
export async function measureCrediting(scale: Scale): Promise<readonly Figure[]> {
  const workers = await startCreditingWorkers()
  const node = await startNode({ watched, depositsFrom: firstHeight })
  const service = await bundleService()
  const scanner = await startScanner({ worker: service, node, database: seedWatched(watched, true), quorum: 1 })
  const blocks = Math.max(2, Math.round(blocksFull * scale.work))
  const next = { credit: 0, insert: 0 }
  const sizes: number[] = []
  const call = async (name: 'credit' | 'insert', action: string): Promise<CreditResult> => {
    const text = await getText(`${workers.url(name)}/${action}/${next[name]}`)
    next[name] += 1
    return JSON.parse(text) as CreditResult // from workers/crediting.ts
  }
  const process = (name: 'credit' | 'insert') => () =>
    perSecond(blocks * deposits, async () => {
      for (let i = 0; i < blocks; i += 1) {
        const { bytes } = await call(name, name)
        if (name === 'credit') sizes.push(bytes)
      }
    })
  const scan = async () => (deposits / (await scanner.scan(1))) * 1000
  try {
    const rounds = await alternate(scale.rounds, { credit: process('credit'), insert: process('insert'), scan })
    const [first = 0, last = 0] = [sizes[0], sizes.at(-1)]
    const bytes = (last - first) / ((sizes.length - 1) * deposits)
    const { rowsWritten } = await call('credit', 'rows')
    // The first one leaves free pages for the transfers of the others: they grow by their events alone.
    const seen = [await call('credit', 'seen'), await call('credit', 'seen'), await call('credit', 'seen')]
    return [...toFigures(rounds, bytes, rowsWritten / deposits), ...toEventFigures(seen)]
  } finally {
    node.stop()
    await scanner.workers.stop()
    await workers.stop()
  }
}

async function startCreditingWorkers(): Promise<RunningWorkers> {
  const { script } = await bundleWorker('crediting')
  const variables = { ADDRESSES: Array.from({ length: deposits }, (_, i) => watchedAddress(i)) }
  return await startWorkers(
    [
      { name: 'credit', script, database: 'ledger', variables },
      { name: 'insert', script, database: 'bare', variables },
    ],
    { ledger: seedWatched(watched, true), bare: seedBare() },
  )
}

function toEventFigures(seen: readonly CreditResult[]): readonly Figure[] {
  const [first, last] = [seen[0], seen.at(-1)]
  if (first === undefined || last === undefined) return []
  const bytes = (last.bytes - first.bytes) / ((seen.length - 1) * deposits)
  const rows = last.rowsWritten / deposits
  return [
    singleFigure(
      'D1 bytes of an event of a transfer that is seen',
      bytes,
      'bytes',
      'that of an entry is in the deposit above',
    ),
    singleFigure('D1 rows written for a transfer that is seen', rows, 'rows', 'the transfer and its event'),
  ]
}

function toFigures(
  rounds: Rounds<'credit' | 'insert' | 'scan'>,
  bytesPerDeposit: number,
  rowsPerDeposit: number,
): readonly Figure[] {
  const name = `deposits credited, ${deposits} in a block`
  const common = { unit: 'deposits/s', baselineName: 'raw D1 batch inserts of the same rows' }
  return [
    compareSides(rounds, 'credit', 'insert', {
      ...common,
      name,
      ratioMin: 0.6,
      note: 'one statement; triggers check and book each deposit',
      headline: 'deposits credited per second ÷ raw D1 batch inserts of the same rows per second (median of rounds)',
    }),
    compareSides(rounds, 'scan', 'insert', {
      ...common,
      name: `${name}, from node to ledger`,
      ratioMin: null,
      note: 'with the receipts of all of them, 18 in a request',
    }),
    singleFigure('D1 bytes of a deposit', bytesPerDeposit, 'bytes', 'deposit, entry, event, indexes'),
    singleFigure('D1 rows written for a deposit', rowsPerDeposit, 'rows', 'as D1 counts them, with indexes'),
  ]
}
