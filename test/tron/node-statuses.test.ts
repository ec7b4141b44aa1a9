import { expect, it } from 'vitest'
import { createHarness, secrets } from './harness.ts'

const heads = (h: ReturnType<typeof createHarness>) => h.settle(h.open().finalizedHead(null))

it('reports of a node that nothing was asked of say so, by its name or number', async () => {
  const h = createHarness({ nodes: 2, names: ['Alpha'], perDay: 50_000 })
  const unknown = { use: 'first', answer: null, behind: null, error: null, used: 0, perDay: 50_000 }
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
