import { describe, expect, test } from 'vitest'
import { bookmarkCharsMax } from '../../../src/worker/http/middleware/access.ts'
import { payCaller, startService, wholeOf } from '../service.ts'

const header = 'x-d1-bookmark'
const good = '00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683'
const refused = {
  status: 400,
  text: `{"code":400,"msg":"${header}: the bookmark of an earlier response, given once"}`,
}

/**
 * A service whose database records in `starts` at what each session starts (`first-primary` or a
 * bookmark), and `no session` for a statement without a session. With `refuse` the database refuses
 * every bookmark, as D1 can.
 */
async function watched(refuse = false) {
  const starts: string[] = []
  const { db } = await startService()
  const spied = new Proxy(db, {
    get(target, name) {
      if (name === 'prepare' || name === 'batch') starts.push('no session')
      if (name !== 'withSession') {
        const member = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      }
      return (start: string) => {
        starts.push(start)
        if (refuse && start !== 'first-primary') throw new Error('D1_ERROR: invalid bookmark')
        return target.withSession(start)
      }
    },
  })
  const service = await startService({ DB: spied })
  // an isolate's first request also compares the configuration with the stored settings
  await service.get('/health', null)
  starts.length = 0
  return { service, starts }
}

describe('the bookmark of a response', () => {
  test.each(['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list', '/wallet/flow/list'])(
    'is in the header at %s',
    async (path) => {
      const service = await startService()
      await service.get('/tron/generate')
      expect((await service.get(path)).headers.get(header)).toMatch(/^[0-9a-f-]{59}$/)
    },
  )

  test.each([
    ['an unknown path', '/x', 404],
    ['bad input', '/wallet/flow/list?page=x', 400],
    ['the health check', '/health', 503],
  ])('is absent at %s', async (_what, path, status) => {
    const response = await (await startService()).get(path)
    expect([response.status, response.headers.get(header)]).toEqual([status, null])
  })

  test('makes the next request see what was written before it', async () => {
    const service = await startService()
    await payCaller(service)
    const written = (await service.get('/tron/recharge')).headers.get(header)
    const response = await service.get('/wallet/list', 7, { headers: { [header]: written ?? '' } })
    expect((await wholeOf(response)).text).toContain('{"amt":25,"cuy":2}')
    expect(response.headers.get(header)).not.toBeNull()
  })
})

describe('the copy of the database that is read', () => {
  test.each([
    ['/wallet/list', '/wallet/list'],
    ['/wallet/flow/list', '/wallet/flow/list'],
    // another query, because the answer to the same one would come from memory
    ['/tron/balance', '/tron/balance?cuy=2'],
  ])('at %s has reached the bookmark, and is the primary without one', async (first, second) => {
    const { service, starts } = await watched()
    await service.get(first)
    await service.get(second, 7, { headers: { [header]: good } })
    expect(starts).toEqual(['first-primary', good])
  })

  test('is the primary for a route that writes, whatever the bookmark', async () => {
    const { service, starts } = await watched()
    await service.get('/tron/generate', 7, { headers: { [header]: good } })
    // the scanner, which issues the address, uses no session
    expect(starts.filter((start) => start !== 'no session')).toEqual(['first-primary'])
  })

  test('is the primary where D1 refuses the bookmark, with a line in the log', async () => {
    const { service, starts } = await watched(true)
    const response = await service.get('/wallet/list', 7, { headers: { [header]: 'ffffffff-0' } })
    expect(response.status).toBe(200)
    expect(starts).toEqual(['ffffffff-0', 'first-primary'])
    expect(service.lines).toContain('{"level":"warn","event":"bookmark-refused"}')
  })
})

describe('a bookmark in a request', () => {
  test.each([
    ['empty', ''],
    ['the word first-primary', 'first-primary'],
    ['the word first-unconstrained', 'first-unconstrained'],
    ['in capitals', good.toUpperCase()],
    ['with a quote', `${good}'`],
    ['with a space inside', `${good} ${good}`],
    ['two of them', `${good}, ${good}`],
    ['a hyphen alone', '-'],
    ['a hyphen at its end', `${good}-`],
    ['too long', 'a'.repeat(bookmarkCharsMax + 1)],
  ])('is refused where it is %s', async (_what, value) => {
    const { service, starts } = await watched()
    expect(await wholeOf(await service.get('/wallet/list', 7, { headers: { [header]: value } }))).toEqual(refused)
    expect(starts).toEqual([])
  })

  test('is not read without a token', async () => {
    const service = await startService()
    expect((await service.get('/wallet/list', null, { headers: { [header]: 'x' } })).status).toBe(401)
  })
})
