import { describe, expect, test } from 'vitest'
import { payCaller, type RunningService, requestsOf, startService, testNodes, textOf } from './service.ts'

/** A service whose nodes allow so many requests a day. */
const startWith = (perDay: number, variables: Record<string, unknown> = {}): Promise<RunningService> =>
  startService({ TRON_NODES: testNodes.map((node) => ({ ...node, perDay })), ...variables })

/** The answer to a question that needs nodes: its status, its message, and whether it has `Retry-After`. */
async function ask(service: RunningService, uid: number) {
  const response = await service.get('/tron/balance?cuy=2', uid)
  const { msg } = await response.json<{ msg: string }>()
  return { status: response.status, msg, seconds: Number(response.headers.get('retry-after')) }
}

describe('requests to nodes', () => {
  test('that callers may not cause any more are refused by whose limit it is, never as nodes without an answer', async () => {
    const service = await startWith(100_000_000)
    await service.get('/tron/generate')
    const poor = service.with({ TRON_NODES: testNodes.map((node) => ({ ...node, perDay: 60 })) })
    const before = requestsOf(service)
    const { status, msg, seconds } = await ask(poor, 7)
    expect([status, requestsOf(service)]).toEqual([429, before])
    expect(msg).toMatch(/^the requests .* are used up; deposits are credited .*; try again in about \d+ s$/)
    expect(msg).toContain(`about ${seconds} s`)
    expect(await textOf(poor, '/wallet/list')).toContain('"count":2')
  })

  test('of one caller end before those of the others, and a tick credits all the same', async () => {
    // A tick every minute is set aside 7,500 requests. Callers have half of the rest, and one of them a tenth of that.
    const service = await startWith(8_500, { SCAN_EVERY_SECONDS: 60 })
    for (const uid of [9, 8, 7]) await service.get('/tron/generate', uid) // the first one makes the scanner check the key
    await payCaller(service)
    const asked = requestsOf(service)
    let answer = await ask(service, 7)
    for (let i = 0; i < 500 && answer.status === 200; i += 1) {
      service.clock.seconds += 3 // the same question within a block has the same answer
      answer = await ask(service, 7)
    }
    expect(answer).toMatchObject({ status: 429, msg: expect.stringMatching(/^your share of the requests /) })
    expect(requestsOf(service) - asked).toBeGreaterThan(20)
    expect(requestsOf(service) - asked).toBeLessThanOrEqual(2 * 50)
    expect((await ask(service, 8)).status).toBe(200)
    await service.tick()
    expect(await textOf(service, '/wallet/list')).toContain('{"amt":25,"cuy":2}')
  })
})
