import { bundleService, bundleWorker } from '../bundles.ts'
import { bindingOf, listOfCells, uidIn } from '../cells.ts'
import { atMost, compared, type Figure, figure, type Scale } from '../figure.ts'
import { getText, requestsPerSecond } from '../load.ts'
import { type RunningWorkers, startWorkers } from '../miniflare.ts'
import { alternate, perSecond, type Rounds } from '../rounds.ts'
import { seedLedger, userCount } from '../seeds.ts'
import { bearerOf, noNode, serviceVariables } from '../variables.ts'
import { heapMegabytes, megabytesMax, megabytesWith } from './memory.ts'

const cellCount = 3
const paths = ['/wallet/list', '/wallet/flow/list?limit=20'] as const
const connections = 15
const historyEntries = 1_000
const cells = Array.from({ length: cellCount }, (_, cell) => cell)
/**
 * The cell that is measured alone. It is not the first cell, so that its database has another
 * binding than the usual `DB`.
 */
const asked = 1

/**
 * Reads and posts a second, and memory, of a service with three cells, compared with a service with
 * one cell, in workerd.
 */
export async function measureCellsLoad(scale: Scale): Promise<readonly Figure[]> {
  const [service, writing] = [await bundleService(), await bundleWorker('writing')]
  const variables = serviceVariables([noNode])
  const nameOf = (cell: number) => `ledger-${cell + 1}`
  const common = { script: service.script, hasObjects: true }
  const further = Object.fromEntries(cells.slice(1).map((cell) => [bindingOf(cell), nameOf(cell)]))
  const poster = (name: string, worker: string) => {
    const services = { LEDGER: { worker, exportName: 'Ledger' } }
    return { name, script: writing.script, database: null, services }
  }
  const workers = await startWorkers(
    [
      { ...common, name: 'one', database: 'ledger', variables },
      {
        ...common,
        name: 'three',
        database: nameOf(0),
        further,
        variables: { ...variables, ...listOfCells(cellCount) },
      },
      poster('post-one', 'one'),
      poster('post-three', 'three'),
    ],
    {
      ledger: seedLedger(historyEntries),
      ...Object.fromEntries(cells.map((cell) => [nameOf(cell), seedLedger(historyEntries, uidIn(cell, 0))])),
    },
  )
  try {
    return [
      ...(await measureReads(workers, scale)),
      ...(await measurePosts(workers, scale)),
      ...(await measureMemory(scale)),
    ]
  } finally {
    await workers.stop()
  }
}

async function measureReads(workers: RunningWorkers, { rounds, work }: Scale): Promise<readonly Figure[]> {
  const ms = Math.max(200, 1_500 * work)
  const bearersOf = (cell: number) => Promise.all(Array.from({ length: userCount }, (_, i) => bearerOf(uidIn(cell, i))))
  const [first, own, ...rest] = await Promise.all([0, asked, ...cells.filter((cell) => cell !== asked)].map(bearersOf))
  if (first === undefined || own === undefined) throw new Error('no users')
  // One user of each cell in turn, so that the requests alternate between the cells.
  const mixed = own.flatMap((one, i) => [one, ...rest.flatMap((users) => users[i] ?? [])])
  const figures: Figure[] = []
  for (const path of paths) {
    const load = (name: string, headers: typeof own) => () =>
      requestsPerSecond({ url: workers.url(name), paths: [path], headers, ms, connections })
    const all = await alternate(rounds, {
      one: load('one', first),
      cell: load('three', own),
      three: load('three', mixed),
    })
    figures.push(...bothOf(all, path, 'requests/s'))
  }
  return figures
}

async function measurePosts(workers: RunningWorkers, { rounds, work }: Scale): Promise<readonly Figure[]> {
  let round = 0
  const posts = Math.max(20, Math.round(150 * work))
  const side = (name: string, of: readonly number[]) => () => {
    round += 1
    const of1 = Math.round(posts / of.length)
    const post = (cell: number) => getText(`${workers.url(name)}/post/${round}/${of1}/1/${uidIn(cell, 0)}`)
    return perSecond(of1 * of.length, () => Promise.all(of.map(post)))
  }
  const all = await alternate(rounds, {
    one: side('post-one', [0]),
    cell: side('post-three', [asked]),
    three: side('post-three', cells),
  })
  return bothOf(all, 'posts of one entry, one after the other in each cell', 'posts/s')
}

async function measureMemory({ work }: Scale): Promise<readonly Figure[]> {
  if (process.platform !== 'linux') return []
  const { script } = await bundleService()
  const one = await megabytesWith(script, 1)
  const three = await megabytesWith(script, cellCount)
  const target = work >= 1 ? atMost(megabytesMax, three.tick) : null
  const worstTick = `memory of the worst ticks above rest, heap of ${heapMegabytes} MB`
  return [
    besides('memory of workerd at rest', three.rest, one.rest, 'MB'),
    { ...besides(worstTick, three.tick, one.tick, 'MB'), target },
  ]
}

/**
 * The figures of one of three cells, and of all three together, each compared with a service with
 * one cell.
 */
function bothOf(rounds: Rounds<'one' | 'cell' | 'three'>, what: string, unit: string): readonly Figure[] {
  const sidesOf = (side: 'cell' | 'three') => {
    return { value: rounds.median(side), baseline: rounds.median('one'), ratio: rounds.ratio(side, 'one') }
  }
  return [
    compared(`${what}: one of three cells`, unit, sidesOf('cell'), 'one cell'),
    compared(`${what}: three cells together`, unit, sidesOf('three'), 'one cell'),
  ]
}

/**
 * A figure, compared with the same figure of one cell or of another baseline. The ratio is that of
 * the two values.
 */
export function besides(
  name: string,
  value: number,
  baseline: number,
  unit: string,
  baselineName = 'one cell',
): Figure {
  const { value: text } = figure(name, baseline, unit)
  return { ...figure(name, value, unit), baseline: `${baselineName}: ${text}`, ratio: value / baseline }
}
