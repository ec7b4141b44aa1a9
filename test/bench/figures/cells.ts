import type { Address } from '../../../src/worker/chain/address.ts'
import { uidIn } from '../cells.ts'
import { atMost, type Figure, figure, type Scale } from '../figure.ts'
import { type BenchDeposit, createBlocks, finalityBlocks, firstHeight, slotMs } from '../mainnet.ts'
import { median } from '../rounds.ts'
import { bearerOf } from '../variables.ts'
import { startVirtual, type VirtualService } from '../virtual.ts'
import { besides, measureCellsLoad } from './cells-load.ts'
import { smallBlock, startMs } from './delays.ts'

/** How many cells are compared with one. */
const cellCount = 3
/**
 * The most requests to nodes that three cells may make, as a multiple of those of one cell with the
 * same deposits.
 */
const requestsRatioMax = 1.5
/** How many requests a second a node allows, if its configuration does not say. */
const perSecond = 15
const hourMs = 3_600_000
/**
 * A deposit in every 17th block is about one a minute. The interval (51 s) is out of step with the
 * ticks.
 */
const everyMinute = 17
/** How many users of one cell call the service again and again. */
const busyUsers = 20

/**
 * Compares three cells with one over the same nodes: requests, delays, speeds, memory, and how
 * trouble in one cell affects the other cells.
 */
export async function measureCells(scale: Scale): Promise<readonly Figure[]> {
  const judge = scale.work >= 1
  return [
    ...(await measureRequests(scale.work, judge)),
    ...(await measureTrouble(scale.work, judge)),
    ...(await measureCellsLoad(scale)),
  ]
}

/** A run of some cells, in virtual time. */
interface Run {
  /** Requests to all nodes in an hour, before the trouble if there is one. */
  readonly requests: number
  /**
   * Milliseconds from finality to credit, for each cell. A deposit that was never credited counts
   * as infinite.
   */
  readonly credited: readonly (readonly number[])[]
  /** The longest time between the starts of two ticks, in milliseconds, of each cell. */
  readonly longestPause: readonly number[]
  readonly service: VirtualService
}

interface RunOptions {
  readonly cells: number
  /** One of this many blocks has a deposit, to a user of each cell in turn; 0: no block has one. */
  readonly everyBlocks: number
  readonly hours: number
  /** Milliseconds that a node takes for an answer. */
  readonly nodeMs?: number
  /** The trouble that begins after ten minutes. Without `trouble` the run takes `hours`. */
  readonly trouble?: (service: VirtualService) => Promise<void>
}

/**
 * Runs one cell with three users, or three cells with one user each, so that the deposits are the
 * same.
 */
async function runCells({ cells, everyBlocks, hours, trouble, ...nodes }: RunOptions): Promise<Run> {
  let to: readonly Address[] = []
  const turnOf = (height: number) => Math.floor(height / everyBlocks) % cellCount
  const depositsAt = (height: number): readonly BenchDeposit[] => {
    const address = to[turnOf(height)]
    if (address === undefined || height < firstHeight + 100 || height % everyBlocks !== 0) return []
    return [{ asset: height % 2 === 0 ? 'TRX' : 'USDT', to: address, amount: 1_000_000n }]
  }
  const chain = createBlocks({ startMs, transactionsAt: () => smallBlock, depositsAt })
  const service = await startVirtual(chain, { cells, ...nodes })
  const addresses: Address[] = []
  for (let i = 0; i < cellCount; i += 1) {
    addresses.push(await service.addressOf(cells === 1 ? uidIn(0, i) : uidIn(i, 0)))
  }
  if (everyBlocks > 0) to = addresses
  await service.run(600_000)
  const [requests, startedAt] = [service.requests(), service.now()]
  if (trouble === undefined) await service.run(hours * hourMs)
  else await trouble(service)
  const ranHours = (service.now() - startedAt) / hourMs
  const credited = service.cells.map((): number[] => [])
  // A deposit that has been final for two minutes must be credited by now.
  const last = firstHeight + (service.now() - startMs - 120_000) / slotMs - finalityBlocks
  for (let height = firstHeight; height < last; height += 1) {
    if (depositsAt(height).length === 0) continue
    const cell = cells === 1 ? 0 : turnOf(height)
    const [deposit] = chain.at(height).transactions
    const row = service.cells[cell]?.sqlite
      .prepare(`SELECT changed_at AS at FROM transfer WHERE txid = ? AND state = 'credited'`)
      .get(deposit?.txid ?? '')
    const at = row === undefined ? Number.POSITIVE_INFINITY : Number(row.at)
    credited[cell]?.push(at - chain.timeOf(height + finalityBlocks))
  }
  const longestPause = service.cells.map(({ ticks }) => {
    const starts = ticks.filter((tick) => tick.startedAt >= startedAt).map((tick) => tick.startedAt)
    return Math.max(...starts.slice(1).map((start, i) => start - (starts[i] ?? start)))
  })
  return { requests: (service.requests() - requests) / ranHours, credited, longestPause, service }
}

/**
 * Measures the requests of a day, and the delays from finality to credit, at several rates of
 * deposits.
 */
async function measureRequests(work: number, judge: boolean): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const [what, everyBlocks, hours, nodeMs] of [
    ['nothing arrives', 0, 2],
    ['nothing arrives, nodes that answer after a second', 0, 1, 1_000],
    ['a deposit every ten minutes', 197, 2],
    ['a deposit each minute', everyMinute, 1],
    ['a deposit every 15 seconds', 5, 0.5],
    ['a deposit in each block', 1, 0.5],
  ] as const) {
    const slow = nodeMs === undefined ? {} : { nodeMs }
    const options = { everyBlocks, hours: Math.max(hours * work, hours / 4), ...slow }
    const one = await runCells({ cells: 1, ...options })
    const three = await runCells({ cells: cellCount, ...options })
    const ratio = three.requests / one.requests
    figures.push({
      ...besides(`${what}: requests a day to two nodes`, 24 * three.requests, 24 * one.requests, 'requests'),
      target: judge ? atMost(requestsRatioMax, ratio) : null,
    })
    if (everyBlocks === 0) continue
    const [all, alone] = [three.credited.flat(), one.credited.flat()]
    figures.push(
      besides(`${what}: credited after finality, half of them`, median(all) / 1000, median(alone) / 1000, 's'),
    )
    figures.push(besides(`${what}: credited after finality, worst`, worst(all) / 1000, worst(alone) / 1000, 's'))
  }
  return figures
}

/** Measures how trouble in the last cell affects the other cells, with a deposit each minute. */
async function measureTrouble(work: number, judge: boolean): Promise<readonly Figure[]> {
  const hours = Math.max(2 * work, 0.5)
  const quiet = await runCells({ cells: cellCount, everyBlocks: everyMinute, hours: Math.max(work, 0.5) })
  const caughtUp = { alone: 0, ofThree: 0 }
  const backlogOf = (which: keyof typeof caughtUp) => async (service: VirtualService) => {
    caughtUp[which] = await fallBehind(service, hours)
  }
  const behind = await runCells({ cells: cellCount, everyBlocks: everyMinute, hours, trouble: backlogOf('ofThree') })
  await runCells({ cells: 1, everyBlocks: everyMinute, hours, trouble: backlogOf('alone') })
  const called = await runCells({
    cells: cellCount,
    everyBlocks: everyMinute,
    hours,
    trouble: (service) => callAllTheTime(service, Math.max(work, 0.25) * hourMs),
  })
  const blocks = Math.round((hours * hourMs) / slotMs)
  const figures = [
    besides(`${blocks} blocks behind: blocks a second in one cell`, caughtUp.ofThree, caughtUp.alone, 'blocks/s'),
  ]
  for (const [what, run] of [
    [`one cell falls ${blocks} blocks behind and catches up`, behind],
    [`${busyUsers} users of one cell call each second`, called],
  ] as const) {
    const of = (one: Run) => one.credited.slice(0, -1).flat()
    const pause = (one: Run) => Math.max(...one.longestPause.slice(0, -1)) / 1000
    const most = run.service.busiestSecond()
    const name = `${what}; the others`
    const undisturbed = 'undisturbed'
    figures.push(
      besides(
        `${name}: credited after finality, half of them`,
        median(of(run)) / 1000,
        median(of(quiet)) / 1000,
        's',
        undisturbed,
      ),
      besides(
        `${name}: credited after finality, worst`,
        worst(of(run)) / 1000,
        worst(of(quiet)) / 1000,
        's',
        undisturbed,
      ),
      besides(`${name}: longest time between ticks`, pause(run), pause(quiet), 's', undisturbed),
      figure(`${what}: most requests to a node in a second`, most, 'requests', judge ? atMost(perSecond, most) : null),
    )
  }
  return figures
}

/**
 * Lets the last cell's database fail for `hours`. Returns how many blocks a second the cell reads
 * while it catches up.
 */
async function fallBehind(service: VirtualService, hours: number): Promise<number> {
  const cell = service.cells.at(-1)
  if (cell === undefined) throw new Error('no cell')
  const height = () => Number(cell.sqlite.prepare('SELECT height FROM scan').get()?.height)
  cell.setAway(true)
  await service.run(hours * hourMs)
  cell.setAway(false)
  const [from, startedAt] = [height(), service.now()]
  const isBehind = () => firstHeight + (service.now() - startMs) / slotMs - finalityBlocks - height() > 20
  while (isBehind() && service.now() < startedAt + 2 * hourMs) await service.run(slotMs)
  const speed = ((height() - from) / (service.now() - startedAt)) * 1000
  await service.run(300_000)
  return speed
}

/**
 * Lets users of the last cell call routes that ask nodes, each user once a second. A user beyond a
 * limit is refused, and calls again.
 */
async function callAllTheTime(service: VirtualService, ms: number): Promise<void> {
  const uids = Array.from({ length: busyUsers }, (_, i) => uidIn(service.cells.length - 1, i))
  for (const uid of uids) await service.addressOf(uid)
  const headers = await Promise.all(uids.map((uid) => bearerOf(uid)))
  const end = service.now() + ms
  for (let i = 0; service.now() < end; i += 1) {
    for (const one of headers) {
      const path = i % 2 === 0 ? '/tron/balance?cuy=2' : '/tron/recharge'
      void service.fetch(new Request(`https://bench.test${path}`, { headers: one })).catch(() => undefined)
    }
    await service.run(1_000)
  }
}

const worst = (times: readonly number[]) => Math.max(...times)
