// Measures how much memory replies of nodes take in workerd, from their bytes to the parsed value:
//   node test/tron/transport/reply-memory.ts
// It is no test, because the peak of a process differs from run to run; transport.test.ts tests the
// limits that these numbers justify. Each line compares the process's peak with that of an empty
// reply: for one reply whose value is kept, and for six that arrive at once, each of which is
// reduced to a small value, as in a tick.

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Log, LogLevel, Miniflare } from 'miniflare'
import { bytesPerValueMin, replyBytesMax, replyDepthMax, replyKeysMax } from '../../../src/worker/tron/limits.ts'
import { root } from '../../support/project.ts'

const worker = `
import { createNetwork, postJson } from './tron/transport.ts'
export default {
  async fetch(request) {
    const url = new URL(request.url)
    const count = Number(url.searchParams.get('count'))
    const clock = { now: () => Date.now(), sleep: (ms) => new Promise((r) => setTimeout(r, ms)), random: Math.random }
    const network = createNetwork((u, init) => fetch(u, init), clock)
    const target = { url: url.searchParams.get('reply'), keyHeader: null }
    const one = () => postJson(network, target, '{}', Date.now() + 60_000, (value) => {
      if (count === 1) globalThis.kept = value
      return { ok: true, value: Array.isArray(value) }
    })
    const replies = await Promise.all(Array.from({ length: count }, one))
    return new Response(replies.every((reply) => reply.ok) ? 'parsed' : replies.find((reply) => !reply.ok).error.kind)
  },
}`

const full = replyBytesMax - 1_000
/**
 * A list with as many items as fit, each padded to the least bytes that its number of values must
 * have.
 */
const listOf = (item: (i: number) => string, values: number): string => {
  const parts: string[] = []
  for (let i = 0, bytes = 0; bytes < full; i += 1) {
    const text = item(i).padEnd(values * bytesPerValueMin - 1)
    parts.push(text)
    bytes += text.length + 1
  }
  parts.pop()
  return `[${parts.join(',')}]`
}
const nested = (i: number): string => {
  const key = (level: number) => `"k${(i * replyDepthMax + level) % (replyKeysMax - 1)}"`
  const levels = replyDepthMax - 2
  const open = Array.from({ length: levels }, (_, level) => `{${key(level)}:`)
  return `${open.join('')}0${'}'.repeat(levels)}`
}
const log = (i: number) =>
  JSON.stringify({
    address: `0x${'a'.repeat(40)}`,
    blockHash: `0x${'b'.repeat(64)}`,
    data: '0x',
    logIndex: i,
    topics: [],
  })
const mainnetBlock = readFileSync(`${root}test/recordings/mainnet/block-of-619-transactions.txt`, 'utf8')
const blocks = () =>
  `{"block":[${Array(14)
    .fill(mainnetBlock.replace(/^\{"block":\[|\]\}\s*$/g, ''))
    .join(',')}]}`
const rendered = () => `{"block":[{"transactions":[{"raw_data":[${'{},'.repeat(9_000_000)}{}],"raw_data_hex":"00"}]}]}`

/** Replies of the largest allowed size. */
const replies: Readonly<Record<string, () => string>> = {
  'an empty reply': () => '[]',
  'blocks of mainnet': blocks,
  'a rendering of empty objects': rendered,
  'dense empty arrays': () => `[${'[],'.repeat(full / 3)}0]`,
  'logs without topics and data': () => listOf(log, 1),
  'empty objects': () => listOf(() => '{}', 2),
  'empty arrays': () => listOf(() => '[]', 2),
  fractions: () => listOf((i) => String(i + 0.5), 1),
  'short texts': () => listOf((i) => `"${i.toString(36)}"`, 1),
  'nested objects with repeated keys': () => listOf(nested, replyDepthMax - 1),
  'wide objects with repeated keys': () =>
    listOf((i) => `{${Array.from({ length: 200 }, (_, k) => `"k${(i + k) % 250}":{}`).join(',')}}`, 401),
  'one text with characters of two bytes': () => `["π${'a'.repeat(full)}"]`,
  'small objects with unique keys': () => listOf((i) => `{"k${i.toString(36)}":{"n${i.toString(36)}":0}}`, 2),
}

/** The highest resident memory that the process has had, in MB. */
function peakOf(pid: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}

/** The ids of the workerd processes that this process has started. */
function children(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      return stat.includes('(workerd)') && stat.split(') ')[1]?.split(' ')[1] === String(process.pid)
    } catch {
      return false // the process ended meanwhile
    }
  })
}

const moduleOf = (path: string) => {
  return { type: 'esm', contents: stripTypeScriptTypes(readFileSync(`${root}src/${path}`, 'utf8')) } as const
}
const sources = ['tron/transport.ts', 'tron/reply-scan.ts', 'tron/limits.ts', 'common/result.ts']
const modules = {
  'main.js': { type: 'esm', contents: worker },
  ...Object.fromEntries(sources.map((path) => [path, moduleOf(path)])),
} as const

async function measure(text: string, count: number): Promise<{ readonly peak: number; readonly outcome: string }> {
  const server = createServer((_, response) => response.end(text))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: the server listens on TCP
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false, // otherwise Miniflare would fetch `cf` from the network
    log: new Log(LogLevel.ERROR),
    telemetry: { enabled: false },
    workers: [
      {
        config: {
          name: 'memory',
          compatibilityDate: '2026-11-01',
          manifest: { mainModule: 'main.js', modules },
          env: {},
        },
      },
    ],
  })
  try {
    const query = new URLSearchParams({ reply: `http://127.0.0.1:${port}/`, count: String(count) })
    const { origin } = await miniflare.ready
    const answer = await fetch(`${origin}/?${query}`)
    const outcome = answer.ok ? await answer.text() : 'the isolate was stopped'
    return { peak: Math.max(...children().map(peakOf)), outcome }
  } finally {
    await miniflare.dispose()
    server.close()
  }
}

let base = 0
for (const [name, textOf] of Object.entries(replies)) {
  const text = textOf()
  const [one, six] = [await measure(text, 1), await measure(text, 6)]
  if (base === 0) base = one.peak
  const line = `${Math.round(one.peak - base)} MB, six ${Math.round(six.peak - base)} MB, ${one.outcome}`
  process.stdout.write(`${name}: ${line}, ${text.length} bytes\n`)
}
