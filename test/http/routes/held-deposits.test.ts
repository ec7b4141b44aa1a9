import { describe, expect, it } from 'vitest'
import { waitSecondsMax } from '../../../src/worker/http/routes/tron-deposits.ts'
import { addressIn, awayDatabase, type RunningService, startService, usdtTo } from '../service.ts'

/**
 * A service in which user 7 has an address, at the time of the newest block: credits are not late.
 */
async function start() {
  const service = await startService()
  service.clock.seconds = service.chain.tip().timeMs / 1000
  return { service, own: await addressIn(await service.get('/tron/generate')) }
}

/** The data of a held request: of user 7, with these further parameters. */
async function held(service: RunningService, parameters = '', uid = 7) {
  const response = await service.get(`/tron/deposits?wait=1${parameters}`, uid)
  expect(response.status).toBe(200)
  const { data } = await response.json<{ data: { list: { state: string }[]; mark?: string; unchanged?: true } }>()
  return { ...data, states: data.list.map(({ state }) => state) }
}

describe('GET /tron/deposits with `wait`', () => {
  it('answers at once without a mark: with the list, and a mark', async () => {
    const { service, own } = await start()
    service.chain.add([usdtTo(own, 25_000_000n)])
    await service.tick()
    const { states, mark, unchanged } = await held(service)
    expect({ states, unchanged }).toEqual({ states: ['seen'], unchanged: undefined })
    expect(mark).toMatch(/^[0-9a-z]+-\d+$/)
  })

  it('says that nothing has changed, without a look at the database', async () => {
    const { service } = await start()
    await service.tick()
    const { mark } = await held(service)
    const lines = service.lines.length
    expect(await held(service, `&mark=${mark}`)).toMatchObject({ states: [], unchanged: true, mark })
    const logged = service.lines.slice(lines).map((line) => JSON.parse(line))
    expect(logged.map(({ statements }) => statements ?? 0)).toEqual([0])
  })

  it('answers with the list as soon as a transfer of the user is seen or credited, and not of another one', async () => {
    const { service, own } = await start()
    await service.get('/tron/generate', 8)
    await service.tick()
    const [seven, eight] = [await held(service), await held(service, '', 8)]
    service.chain.add([usdtTo(own, 25_000_000n)])
    service.clock.seconds += 20
    await service.tick()
    expect(await held(service, `&mark=${eight.mark}`, 8)).toMatchObject({ unchanged: true })
    const seen = await held(service, `&mark=${seven.mark}`)
    expect(seen.states).toEqual(['seen'])
    service.chain.addEmpty(18)
    service.clock.seconds += 60
    await service.tick()
    expect((await held(service, `&mark=${seen.mark}`)).states).toEqual(['credited'])
  })

  it('is answered at once by another instance of the scanner, and while credits are late', async () => {
    const { service } = await start()
    await service.tick()
    const { mark } = await held(service)
    const next = service.with({})
    await next.tick()
    const restarted = await held(next, `&mark=${mark}`)
    expect(restarted.unchanged).toBeUndefined()
    next.clock.seconds += 300
    expect((await held(next, `&mark=${restarted.mark}`)).unchanged).toBeUndefined()
  })

  it('answers as it would without `wait` where the scanner does not answer, or its tick has thrown', async () => {
    const { service } = await start()
    await service.tick()
    const { mark } = await held(service)
    const scanner = { waitForDeposit: () => Promise.reject(new Error('the object was reset')) }
    // safe: only its scanner is used
    const broken = { bindings: { SCANNER: { getByName: () => scanner } } } as unknown as RunningService
    const { mark: none, states } = await held(service.with({}, broken), `&mark=${mark}`)
    expect({ none, states }).toEqual({ none: undefined, states: [] })
    const away = service.with({ DB: awayDatabase() })
    await away.tick()
    expect((await away.get(`/tron/deposits?wait=1&mark=${mark}`)).status).toBe(503)
  })

  it.each([
    ['0', `wait: a whole number from 1 to ${waitSecondsMax}`],
    ['26', `wait: a whole number from 1 to ${waitSecondsMax}`],
    ['1&mark=x', 'mark: the `mark` of an earlier answer'],
    [`1&mark=${'a'.repeat(90)}-1`, 'mark: the `mark` of an earlier answer'],
  ])('refuses wait=%s', async (wait, msg) => {
    const { service } = await start()
    const response = await service.get(`/tron/deposits?wait=${wait}`)
    expect(await response.json()).toEqual({ code: 400, msg: expect.stringContaining(msg) })
  })

  it('is waiting for a payment: looks at the tail begin', async () => {
    const { service } = await start()
    const next = service.with({})
    service.scannerHost.timer = null
    await next.tick()
    await held(next)
    expect(service.scannerHost.timer).not.toBeNull()
  })
})
