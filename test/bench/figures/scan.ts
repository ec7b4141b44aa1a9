import { blockSeconds } from '../../../src/chain/block.ts'
import { readBlocksMax } from '../../../src/chain/limits.ts'
import { usdtAddress } from '../../support/transaction-spec.ts'
import { busyBlock, firstHeight } from '../block-templates.ts'
import { blockHash, depositEvery } from '../blocks.ts'
import { type Bundle, bundleService, bundleWorker } from '../bundles.ts'
import { atLeast, compareSides, type Figure, type Scale, singleFigure } from '../figure.ts'
import { getText, postForJson } from '../load.ts'
import { type LoopbackNode, startNode } from '../node-process.ts'
import { alternate, perSecond, type Rounds } from '../rounds.ts'
import { startScanner } from '../scanner.ts'
import { seedWatched } from '../seeds.ts'

const watched = 100_000
/** With one node; half as many with two. One tick reads them: its 45 requests are enough for 374, or for 238. */
const blocksFull = 306
/** Parsed in one request. The isolate keeps the texts in memory, so that only `JSON.parse` is timed. */
const parsedBlocks = 51
/** How many times faster than the chain the scan must be. */
const paceMin = 100
/**
 * The ratio with two nodes before the scan had three stages: 256 blocks/s, the median of seven runs in turn with the present code on
 * one machine, of 912 fetched and parsed. Catching up must be 1.5 times as fast.
 */
const earlierRatio = 0.281
const speedUpMin = 1.5

/** Blocks per second of the whole cron handler, compared with JSON.parse of the same replies. */
export async function measureScan(scale: Scale): Promise<readonly Figure[]> {
  const service = await bundleService()
  const bare = await bundleWorker('bare')
  const figures: Figure[] = []
  for (const quorum of [1, 2] as const) {
    const node = await startNode({ watched, depositsFrom: Number.MAX_SAFE_INTEGER })
    try {
      figures.push(...(await measureWith(quorum, scale, { service, bare, node })))
    } finally {
      node.stop()
    }
  }
  return figures
}

async function measureWith(
  quorum: 1 | 2,
  scale: Scale,
  { service, bare, node }: { readonly service: Bundle; readonly bare: Bundle; readonly node: LoopbackNode },
): Promise<readonly Figure[]> {
  const blocks = parsedBlocks * Math.max(1, Math.round((blocksFull / quorum / parsedBlocks) * scale.work))
  const scanner = await startScanner({
    worker: service,
    node,
    database: seedWatched(watched, true),
    quorum,
    others: [{ name: 'bare', script: bare.script }],
  })
  const url = scanner.workers.url('bare')
  try {
    await node.finalize(firstHeight + parsedBlocks)
    const requests = requestsFor(node.urls, firstHeight, parsedBlocks, quorum)
    const { characters } = await postForJson<{ characters: number }>(`${url}/load`, requests)
    // As many blocks as the scan reads: less than 100 ms of work would be measured with twice the spread.
    const repeat = (work: () => Promise<unknown>) => async () => {
      for (let parsed = 0; parsed < blocks; parsed += parsedBlocks) await work()
    }
    const rounds = await alternate(scale.rounds, {
      scan: async () => (blocks / (await scanner.scan(blocks))) * 1000,
      parse: () =>
        perSecond(
          blocks,
          repeat(() => getText(`${url}/parse`)),
        ),
      fetchAndParse: () =>
        perSecond(
          blocks,
          repeat(() => postForJson(`${url}/fetch-and-parse`, requests)),
        ),
    })
    return toFigures(rounds, quorum, Math.round(characters / parsedBlocks / 1000))
  } finally {
    await scanner.workers.stop()
  }
}

function toFigures(
  rounds: Rounds<'scan' | 'parse' | 'fetchAndParse'>,
  quorum: 1 | 2,
  kilobytesPerBlock: number,
): readonly Figure[] {
  const { transactions, tokenLogs } = busyBlock
  const content = `${transactions} transactions, ${tokenLogs} USDT logs, a deposit in one of ${depositEvery} blocks`
  const figure = (baseline: 'parse' | 'fetchAndParse', baselineName: string, ratioMin: number | null) =>
    compareSides(rounds, 'scan', baseline, {
      name: `blocks scanned and stored, ${watched.toLocaleString('en')} watched addresses, quorum ${quorum}`,
      unit: 'blocks/s',
      baselineName,
      ratioMin,
      note: `${content}, ${kilobytesPerBlock} kB a block`,
    })
  const pace = rounds.median('scan') * blockSeconds
  const paceFigure = singleFigure(
    `scan speed relative to the chain, quorum ${quorum}`,
    pace,
    'times',
    '',
    atLeast(paceMin, pace),
  )
  const headline =
    'scan speed relative to the chain = blocks scanned per second with two nodes × ' +
    `the ${blockSeconds} seconds between two blocks`
  return [
    figure('parse', 'JSON.parse of the same replies', quorum === 1 ? 0.5 : null),
    figure(
      'fetchAndParse',
      'fetching and parsing the same replies',
      quorum === 2 ? Number((earlierRatio * speedUpMin).toFixed(3)) : null,
    ),
    quorum === 2 ? { ...paceFigure, headline } : paceFigure,
  ]
}

/**
 * The requests for blocks that the service makes: full blocks and all logs of each from the first node, and full blocks and
 * the logs of accepted contracts in their range from the second one.
 */
function requestsFor([url = '', other = '']: readonly string[], from: number, count: number, quorum: number) {
  const guard = [call('eth_chainId', []), call('eth_getBlockByNumber', ['finalized', false])]
  const request = (base: string, calls: readonly object[]) => {
    return { url: `${base}/jsonrpc`, body: JSON.stringify([...guard, ...calls]) }
  }
  const all: { readonly url: string; readonly body: string }[] = []
  for (let first = from; first < from + count; first += readBlocksMax) {
    const heights = Array.from({ length: Math.min(readBlocksMax, from + count - first) }, (_, i) => first + i)
    const bodies = heights.map((height) => call('eth_getBlockByNumber', [hex(height), true]))
    const logs = heights.map((height) => call('eth_getLogs', [{ blockHash: `0x${blockHash(height)}` }]))
    all.push(request(url, bodies), request(url, logs))
    const range = { fromBlock: hex(first), toBlock: hex(heights.at(-1) ?? first), address: [`0x${usdtAddress}`] }
    if (quorum === 2) all.push(request(other, [...bodies, call('eth_getLogs', [range])]))
  }
  return all
}

const call = (method: string, params: readonly unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params })
const hex = (height: number) => `0x${height.toString(16)}`
