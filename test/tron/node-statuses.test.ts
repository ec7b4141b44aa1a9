import { expect, it } from 'vitest'
import { createHarness, secrets, troublesOf } from './harness.ts'

const heads = (h: ReturnType<typeof createHarness>) => h.settle(h.open().finalizedHead(null))

it('reports of a node that nothing was asked of say so, by its name or number', async () => {
  const h = createHarness({ nodes: 2, names: ['Alpha'], perDay: 50_000 })
  const unknown = { use: 'first', state: 'not-asked', answer: null, behind: null, error: null, used: 0, perDay: 50_000 }
  expect(await h.tron.nodeStatuses()).toEqual([
    { name: 'Alpha', ...unknown },
    { name: 'node 2 (node-2.test)', ...unknown },
  ])
})

it('reports of nodes have their last answer and error, how far behind each is, and what was sent, and no secret', async () => {
  const h = createHarness({ nodes: 2, quorum: 1 })
  await heads(h)
  const [first] = await h.tron.nodeStatuses()
  expect(first).toMatchObject({ use: 'first', answer: { at: h.now() }, behind: 0, error: null })
  expect(first?.used).toBe(h.node(0).requests.length)
  h.fail(0, { kind: 'status', status: 503 })
  const failedAt = h.now()
  await heads(h)
  const [failed, other] = await h.tron.nodeStatuses()
  expect(failed).toMatchObject({ use: 'blocked', error: { why: expect.stringContaining('503') } })
  expect(failed?.error?.at).toBeGreaterThanOrEqual(failedAt)
  expect(other).toMatchObject({ use: 'first', behind: 0, error: null })
  for (const secret of Object.values(secrets)) expect(JSON.stringify(await h.tron.nodeStatuses())).not.toContain(secret)
})

it('reports say how many blocks a node is behind the newest one, also if they were asked at different times', async () => {
  const h = createHarness({ nodes: 2, quorum: 2 })
  h.node(1).behind = 3
  await heads(h)
  expect((await h.tron.nodeStatuses()).map(({ behind }) => behind)).toEqual([0, 3])
})

it('reports of a new object know what was sent before it', async () => {
  const h = createHarness({ nodes: 1, quorum: 1 })
  await heads(h)
  h.evict()
  expect(await h.tron.nodeStatuses()).toMatchObject([{ answer: null, used: h.node(0).requests.length }])
})

it('a node answers only once it was asked, and what nothing else asks is asked by a check', async () => {
  const h = createHarness({ nodes: 3, quorum: 1 })
  const states = async () => (await h.tron.nodeStatuses()).map(({ state }) => state)
  const head = await heads(h)
  if (!head.ok) throw new Error('a head')
  expect(await states()).toEqual(['answers', 'not-asked', 'not-asked'])
  await h.settle(h.open({ kind: 'leftover' }).checkNodes({ height: head.value.header.height, time: 0 }))
  expect(await states()).toEqual(['answers', 'answers', 'answers'])
  const asked = h.nodes.map(({ requests }) => requests.length)
  h.advance(59_000)
  await h.settle(h.open({ kind: 'leftover' }).checkNodes({ height: head.value.header.height, time: 0 }))
  expect(h.nodes.map(({ requests }) => requests.length)).toEqual(asked)
})

it('a check leaves most of a small allowance of a day to the scan', async () => {
  const h = createHarness({ nodes: 2, quorum: 1, perDay: 30_000 })
  const head = await heads(h)
  if (!head.ok) throw new Error('a head')
  for (let minute = 0; minute < 120; minute += 1) {
    await h.settle(h.open({ kind: 'leftover' }).checkNodes({ height: head.value.header.height, time: 0 }))
    h.advance(60_000)
  }
  const asked = h.node(1).requests.length
  expect(asked).toBeLessThanOrEqual((0.1 * 30_000) / 12)
  expect(asked).toBeGreaterThan(50)
})

it('a node that is behind has no peers only where it says so', async () => {
  const h = createHarness({ nodes: 3 })
  const states = async () => (await h.tron.nodeStatuses()).map(({ state }) => state)
  h.node(2).behind = 100
  const head = await heads(h)
  if (!head.ok) throw new Error('a head')
  const check = async () => {
    h.advance(60_000)
    await h.settle(h.open({ kind: 'leftover' }).checkNodes({ height: head.value.header.height, time: 0 }))
  }
  await check()
  expect(await states()).toEqual(['answers', 'answers', 'behind'])
  const peers = (count: string) => ({
    kind: 'changed-calls' as const,
    change: ({ method }: { readonly method: string }) => (method === 'net_peerCount' ? { result: count } : undefined),
  })
  h.fail(2, peers('0x0'))
  await check()
  expect(await states()).toEqual(['answers', 'answers', 'no-peers'])
  for (let minute = 0; minute < 3; minute += 1) await check()
  expect(await troublesOf(h, 'node-behind')).toMatchObject([{ node: 3, state: 'has no peers' }])
  h.fail(2, peers('0x5'))
  await check()
  expect(await states()).toEqual(['answers', 'answers', 'behind'])
})
