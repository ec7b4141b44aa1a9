import { setTimeout } from 'node:timers/promises'
import { bundleService } from '../bundles.ts'
import { atMost, compared, type Figure, figure, type Scale } from '../figure.ts'
import { getText } from '../load.ts'
import { finalityBlocks, firstHeight, slotMs } from '../mainnet.ts'
import { cpuMsOf, withChildren } from '../processes.ts'
import { type Scanning, startScanning } from '../scanning.ts'
import { bearerOf } from '../variables.ts'

/**
 * Pages that wait at the same time, each of another user, in a full run. The scanner's own work is
 * shared among them, so with more of them each costs less.
 */
const pages = 300
/** As a deployment has it. */
const scanEverySeconds = 20
/** The pages are opened within this time, before the measuring begins. */
const openMs = 20_000
/** What a page that waits may cost, beside one that asks every six seconds. */
const ratioMax = 0.5
/** As `src/pages/deposit` asks: after a held request, and after any other one. */
const [heldPaceMs, paceMs] = [100, 6_000]

/** What one page costs in a minute. */
interface PageMinute {
  readonly requests: number
  /** Of workerd with its database, with the ticks and looks of the scanner. */
  readonly cpuMs: number
  readonly rows: number
}

/** Asks for transfers with this query, and returns the answer's data. */
type Ask = (query: string) => Promise<{ readonly unchanged?: boolean; readonly mark?: string }>
/** How a page asks until `isOver`. */
type Habit = (ask: Ask, isOver: () => boolean) => Promise<void>

const polls: Habit = async (ask, isOver) => {
  while (!isOver()) {
    await ask('limit=20')
    await setTimeout(paceMs)
  }
}
const holds: Habit = async (ask, isOver) => {
  let mark = ''
  while (!isOver()) {
    const answer = await ask(`limit=20&wait=18${mark}`)
    mark = answer.mark === undefined ? '' : `&mark=${answer.mark}`
    await setTimeout(answer.unchanged === true ? heldPaceMs : paceMs)
  }
}

/**
 * What pages cost that wait for a payment with held requests, beside pages that ask every six
 * seconds: in workerd, over a chain that makes blocks like mainnet's, in real time.
 */
export async function measureWaiting({ work }: Scale): Promise<readonly Figure[]> {
  const count = Math.max(100, Math.round(pages * work))
  const startMs = Date.now() - (Date.now() % slotMs) - finalityBlocks * slotMs
  const { script } = await bundleService()
  const options = { script, each: 0, addresses: count, every: scanEverySeconds, startMs }
  const scanning = await startScanning(options)
  const clock = setInterval(() => {
    void scanning.node.finalize(firstHeight + Math.floor((Date.now() - startMs) / slotMs) - finalityBlocks)
  }, slotMs)
  try {
    const headers = await Promise.all(Array.from({ length: count }, (_, i) => bearerOf(i + 1)))
    const polled = await minuteOf(scanning, headers, polls)
    const held = await minuteOf(scanning, headers, holds)
    const who = `each of ${count.toLocaleString('en')} pages that wait, a minute:`
    const beside = (what: string, unit: string, name: keyof PageMinute, max: number | null = null) => {
      const measured = { value: held[name], baseline: polled[name], ratio: held[name] / polled[name] }
      const target = max === null ? null : atMost(max, measured.ratio)
      return { ...compared(`${who} ${what}`, unit, measured, 'asking every 6 s'), target }
    }
    return [
      beside('requests to the service', 'requests', 'requests'),
      beside('rows that D1 reads', 'rows', 'rows', ratioMax),
      Number.isNaN(held.cpuMs)
        ? figure(`${who} CPU time`, held.cpuMs, 'ms')
        : beside('CPU time', 'ms', 'cpuMs', ratioMax),
    ]
  } finally {
    clearInterval(clock)
    await scanning.stop()
  }
}

/** Opens a page for each of the headers, and measures one minute of them together. */
async function minuteOf(
  { workers, processes }: Scanning,
  headers: readonly Readonly<Record<string, string>>[],
  habit: Habit,
): Promise<PageMinute> {
  let [isOver, requests] = [false, 0]
  const url = `${workers.url('service')}/tron/deposits?`
  const open = async (header: Readonly<Record<string, string>>, i: number) => {
    await setTimeout((i / headers.length) * openMs)
    const ask: Ask = async (query) => {
      requests += 1
      // safe: the service's own answer
      return (JSON.parse(await getText(url + query, header)) as { readonly data: Awaited<ReturnType<Ask>> }).data
    }
    await habit(ask, () => isOver)
  }
  const all = headers.map(open)
  const now = () => {
    const cpuMs = processes.length === 0 ? Number.NaN : cpuMsOf(withChildren(processes))
    return { requests, cpuMs, rows: workers.rowsRead() }
  }
  await setTimeout(openMs + paceMs)
  const before = now()
  const start = performance.now()
  await Promise.race([setTimeout(60_000), Promise.all(all)])
  const after = now()
  const each = (headers.length * (performance.now() - start)) / 60_000
  isOver = true
  await Promise.all(all)
  return {
    requests: (after.requests - before.requests) / each,
    cpuMs: (after.cpuMs - before.cpuMs) / each,
    rows: (after.rows - before.rows) / each,
  }
}
