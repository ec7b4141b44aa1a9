import { beforeEach, describe, expect, test } from 'vitest'
import { gapLimit } from '../../../src/addresses/issue-address.ts'
import { read } from '../app-harness.ts'
import { firstAddress, type RunningService, secondAddress, startService, wholeOf } from '../service.ts'

let service: RunningService
beforeEach(async () => {
  service = await startService()
})
const issued = (id: number, address: string) => ({
  status: 200,
  body: { code: 200, msg: 'success', data: { id, address } },
})

describe('GET /tron/generate', () => {
  test('creates the caller’s address on the first call and shows the same one ever after', async () => {
    expect(await read(await service.get('/tron/generate'))).toEqual(issued(1, firstAddress))
    expect(await read(await service.get('/tron/generate?fresh=0'))).toEqual(issued(1, firstAddress))
  })

  test('gives two callers two addresses', async () => {
    expect(await read(await service.get('/tron/generate', 7))).toEqual(issued(1, firstAddress))
    expect(await read(await service.get('/tron/generate', 8))).toEqual(issued(2, secondAddress))
    expect(await read(await service.get('/tron/generate', 7))).toEqual(issued(1, firstAddress))
  })

  test('issues a further address where it is asked to, and shows that one from then on', async () => {
    await service.get('/tron/generate')
    expect(await read(await service.get('/tron/generate?fresh=1'))).toEqual(issued(2, secondAddress))
    expect(await read(await service.get('/tron/generate'))).toEqual(issued(2, secondAddress))
  })

  test('gives one caller one address, however many calls come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.get('/tron/generate')))
    for (const answer of answers) expect(await read(answer)).toEqual(issued(1, firstAddress))
  })

  test.each([
    ['base58', '"TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6"'],
    ['hex', '"41e2e1a54926527fbb4e4420de4c6bab82beaee24d"'],
    ['number', '96292870406803277354480389611225519192840080384589'],
  ])('writes the address as %s with every digit', async (format, address) => {
    expect(await wholeOf(await service.get(`/tron/generate?format=${format}`))).toEqual({
      status: 200,
      text: `{"code":200,"msg":"success","data":{"id":1,"address":${address}}}`,
    })
  })

  test.each([
    ['fresh=2', 'fresh: one of 0, 1'],
    ['fresh=', 'fresh: one of 0, 1'],
    ['fresh=1&fresh=1', 'fresh: one of 0, 1, given once'],
    ['format=decimal', 'format: one of base58, number, hex'],
    ['format=', 'format: one of base58, number, hex'],
  ])('refuses ?%s and issues nothing', async (query, msg) => {
    expect(await read(await service.get(`/tron/generate?${query}`))).toEqual({ status: 400, body: { code: 400, msg } })
    expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(0)
  })

  test('refuses a further address while as many as the gap limit have no deposit', async () => {
    for (let i = 0; i < gapLimit; i += 1) expect((await service.get('/tron/generate?fresh=1')).status).toBe(200)
    expect(await read(await service.get('/tron/generate?fresh=1'))).toEqual({
      status: 409,
      body: { code: 409, msg: '20 addresses are still without a deposit: use one of them first' },
    })
    expect((await service.get('/tron/generate')).status).toBe(200)
    expect((await service.get('/tron/generate?fresh=1', 8)).status).toBe(200)
  })

  test('shows no address while it is not known from which block on it is watched', async () => {
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 503 })
    const response = await service.get('/tron/generate')
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await read(response)).toEqual({
      status: 503,
      body: { code: 503, msg: 'no Tron node gave a usable answer: try again later' },
    })
  })

  test('is refused without a token', async () => {
    expect(await read(await service.get('/tron/generate', null))).toEqual({
      status: 401,
      body: { code: 401, msg: 'a valid bearer token is required' },
    })
  })
})
