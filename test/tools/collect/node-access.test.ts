import { expect, it } from 'vitest'
import type { UnixMs } from '../../../src/common/time.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { requestIntervalMs } from '../../../src/tools/collect/limits.ts'
import { openNodes, StoppedError } from '../../../src/tools/collect/node-access.ts'
import { createProgress } from '../../../src/tools/collect/progress.ts'
import { bindingsFor, unwrap } from './harness.ts'

const config = unwrap(parseConfig(bindingsFor({ rpcUrl: 'https://n.example/jsonrpc', apiUrl: 'https://n.example' })))

const anything = { parse: (value: unknown) => value, merge: (a: unknown) => a }

/** Nodes with a clock that only waits move, and the times at which they were asked. */
function timedNodes(abort = new AbortController()) {
  let now = 1_795_000_000_000
  const asked: number[] = []
  const clock = {
    now: () => now as UnixMs,
    random: () => 0.5,
    sleep: (ms: number) => {
      if (ms > 3_000) return new Promise<void>(() => {}) // a time-out that does not come
      now += ms
      return Promise.resolve()
    },
  }
  const fetch = (async () => {
    asked.push(now)
    return new Response('{"chainParameter":[]}')
  }) as typeof globalThis.fetch
  return { nodes: openNodes(config, { clock, fetch, signal: abort.signal }), asked }
}

it('the nodes are asked at a limited rate', async () => {
  const { nodes, asked } = timedNodes()
  for (let i = 0; i < 5; i += 1) expect(await nodes.agree('x', {}, anything)).toMatchObject({ ok: true })
  const gaps = asked.slice(1).map((at, i) => at - (asked[i] ?? 0))
  expect(gaps).toEqual([requestIntervalMs, requestIntervalMs, requestIntervalMs, requestIntervalMs])
})

it('a stopped command asks nothing more', async () => {
  const abort = new AbortController()
  const { nodes, asked } = timedNodes(abort)
  await nodes.agree('x', {}, anything)
  abort.abort()
  await expect(nodes.agree('x', {}, anything)).rejects.toThrow(StoppedError)
  expect(asked).toHaveLength(1)
})

it('a reply that is none of those known is tried again, and then a failure in one sentence', async () => {
  const { nodes, asked } = timedNodes()
  const answer = await nodes.agree('getaccount', {}, { ...anything, parse: () => null })
  expect(answer).toMatchObject({ ok: false, error: expect.stringContaining('no node answered getaccount') })
  expect(asked.length).toBeGreaterThan(4)
  expect(JSON.stringify(answer)).not.toContain('n.example')
})

it('progress is one line on a terminal, and a line for each tenth elsewhere', () => {
  const linesOf = (isTTY: boolean) => {
    let text = ''
    const write = (part: string) => {
      text += part
      return true
    }
    const show = createProgress({ isTTY, write } as unknown as Parameters<typeof createProgress>[0])
    show('nothing', 0, 0)
    for (let i = 0; i <= 100; i += 1) show('things', i, 100)
    return text.split('\n').filter((line) => line !== '')
  }
  expect(linesOf(true)).toHaveLength(1)
  expect(linesOf(false)).toHaveLength(11)
  expect(linesOf(false).at(-1)).toBe('[##############################] 100/100 things')
})
