import { readBlocksMax } from '../../../src/chain/limits.ts'
import { busyBlock, depositEvery, firstHeight } from '../blocks.ts'
import { type Bundle, bundleService, bundleWorker } from '../bundles.ts'
import { atLeast, type Figure, type Scale, stated } from '../figure.ts'
import { getText, post } from '../load.ts'
import { type LoopbackNode, startNode } from '../node-process.ts'
import { timed } from '../project.ts'
import { alternate } from '../rounds.ts'
import { blockSeconds, startScanner } from '../scanning.ts'
import { seedWatched } from '../seeds.ts'

const watched = 100_000
/** What one tick scans at most: its 45 requests are enough for six steps. */
const blocksAtFull = 306
/** Parsed in one go; the isolate holds the texts in memory while `JSON.parse` alone is timed. */
const parsedBlocks = 51
const times = 100

/** Blocks per second through the whole cron handler, beside JSON.parse of the same replies. */
export async function measureScan(scale: Scale): Promise<readonly Figure[]> {
  const service = await bundleService()
  const bare = await bundleWorker('bare')
  const node = await startNode({ watched, fullFrom: Number.MAX_SAFE_INTEGER })
  try {
    return [
      ...(await measureWith(1, scale, { service, bare, node })),
      ...(await measureWith(2, scale, { service, bare, node })),
    ]
  } finally {
    node.stop()
  }
}

async function measureWith(
  quorum: 1 | 2,
  scale: Scale,
  { service, bare, node }: { readonly service: Bundle; readonly bare: Bundle; readonly node: LoopbackNode },
): Promise<readonly Figure[]> {
  const blocks = Math.max(parsedBlocks, Math.round((blocksAtFull / quorum) * scale.work))
  const scanner = await startScanner({
    worker: service,
    node,
    database: seedWatched(watched, true),
    quorum,
    beside: [{ name: 'bare', script: bare.script }],
  })
  const url = scanner.platform.url('bare')
  try {
    await node.finalize(firstHeight + parsedBlocks)
    const asked = requestsFor(node.url, firstHeight, parsedBlocks, quorum)
    const { characters } = await post<{ characters: number }>(`${url}/load`, asked)
    const perSecond = (count: number, ms: number) => (count / ms) * 1000
    const rounds = await alternate(scale.rounds, {
      scan: async () => perSecond(blocks, await scanner.scan(blocks)),
      parse: async () => perSecond(parsedBlocks, (await timed(() => getText(`${url}/parse`))).ms),
      fetchAndParse: async () => perSecond(parsedBlocks, (await timed(() => post(`${url}/fetch-and-parse`, asked))).ms),
    })
    const name = `blocks scanned and stored, ${watched.toLocaleString('en')} watched addresses, quorum ${quorum}`
    const kilobytes = Math.round(characters / parsedBlocks / 1000)
    const shape = `${busyBlock.transactions} transactions, ${busyBlock.tokenLogs} USDT logs, a deposit in one of ${depositEvery}`
    const row = (beside: 'parse' | 'fetchAndParse', what: string, reach: number | null): Figure => ({
      name,
      value: rounds.median('scan'),
      unit: 'blocks/s',
      beside: { name: what, value: rounds.median(beside) },
      ratio: rounds.ratio('scan', beside),
      reach: reach === null ? null : atLeast(reach, rounds.ratio('scan', beside)),
      note: `${shape}: ${kilobytes} kB a block`,
    })
    const pace = rounds.median('scan') * blockSeconds
    return [
      row('parse', 'JSON.parse of the same replies', quorum === 1 ? 0.5 : null),
      row('fetchAndParse', 'fetching and parsing the same replies', null),
      stated(`the same in times the chain's pace, quorum ${quorum}`, pace, '×', '', atLeast(times, pace)),
    ]
  } finally {
    await scanner.platform.stop()
  }
}

/** The requests with which `quorum` nodes are asked for the same blocks: full blocks, and all of their logs. */
function requestsFor(url: string, from: number, count: number, quorum: number) {
  const guard = [call('eth_chainId', []), call('eth_getBlockByNumber', ['finalized', false])]
  const all: { readonly url: string; readonly body: string }[] = []
  for (let first = from; first < from + count; first += readBlocksMax) {
    const heights = Array.from({ length: Math.min(readBlocksMax, from + count - first) }, (_, i) => first + i)
    const bodies = heights.map((height) => call('eth_getBlockByNumber', [hex(height), true]))
    const logs = call('eth_getLogs', [{ fromBlock: hex(first), toBlock: hex(heights.at(-1) ?? first) }])
    all.push({ url, body: JSON.stringify([...guard, ...bodies]) }, { url, body: JSON.stringify([...guard, logs]) })
    if (quorum === 2) all.push({ url, body: JSON.stringify([...guard, ...bodies, logs]) })
  }
  return all
}

const call = (method: string, params: readonly unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
const hex = (height: number) => `0x${height.toString(16)}`
