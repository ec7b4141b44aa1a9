import { beforeEach, describe, expect, test } from 'vitest'
import { gapLimit } from '../../../src/addresses/issue-address.ts'
import { parseGenerateQuery } from '../../../src/http/routes/tron-generate/query.ts'
import { usdtAddress } from '../../support/transaction-spec.ts'
import {
  addressFrom,
  firstAddress,
  type RunningService,
  read,
  secondAddress,
  startService,
  wholeOf,
} from '../service.ts'

let service: RunningService
beforeEach(async () => {
  service = await startService()
})
const issued = (id: number, address: string) => ({
  status: 200,
  body: { code: 200, msg: 'success', data: { id, address } },
})

describe('GET /tron/generate', () => {
  test('creates the address of the caller on the first call, and is the same one on every call', async () => {
    expect(await read(await service.get('/tron/generate'))).toEqual(issued(1, firstAddress))
    expect(await read(await service.get('/tron/generate?fresh=0'))).toEqual(issued(1, firstAddress))
  })

  test('is another address for another caller', async () => {
    expect(await read(await service.get('/tron/generate', 7))).toEqual(issued(1, firstAddress))
    expect(await read(await service.get('/tron/generate', 8))).toEqual(issued(2, secondAddress))
    expect(await read(await service.get('/tron/generate', 7))).toEqual(issued(1, firstAddress))
  })

  test('issues a further address with fresh=1, which is the current one from then on', async () => {
    await service.get('/tron/generate')
    expect(await read(await service.get('/tron/generate?fresh=1'))).toEqual(issued(2, secondAddress))
    expect(await read(await service.get('/tron/generate'))).toEqual(issued(2, secondAddress))
  })

  test('starts at TRON_FIRST_INDEX on an empty database', async () => {
    const later = service.with({ TRON_FIRST_INDEX: '1' })
    expect(await read(await later.get('/tron/generate'))).toEqual(issued(2, secondAddress))
    expect((await read(await service.get('/tron/generate', 8))).body).toMatchObject({ data: { id: 3 } })
  })

  describe('for the first address of an empty database', () => {
    const alarms = () => service.lines.flatMap((line) => JSON.parse(line).alarm ?? [])
    const addressCount = () => service.db.prepare('SELECT count(*) AS n FROM address').first('n')

    test.each([
      ['TRX at the first address', firstAddress, 'native'],
      ['a token at the second address', secondAddress, 'token'],
    ])('is 503 with one alarm where the key holds %s, until TRON_FIRST_INDEX is set', async (_what, holder, kind) => {
      const address = addressFrom(holder)
      for (const node of service.nodes) {
        if (kind === 'native') node.balances.set(address, 1n)
        else node.balances.set(`${usdtAddress} ${address}`, 1n)
      }
      for (const uid of [7, 8]) expect((await service.get('/tron/generate', uid)).status).toBe(503)
      expect((await service.get('/tron/generate?fresh=1')).status).toBe(503)
      expect(alarms()).toEqual(['key-was-used'])
      expect(await addressCount()).toBe(0)
      const set = service.with({ TRON_FIRST_INDEX: '1' })
      expect(await read(await set.get('/tron/generate'))).toEqual(issued(2, secondAddress))
    })

    test('takes 0 as a first index that is set', async () => {
      for (const node of service.nodes) node.balances.set(addressFrom(firstAddress), 1n)
      const set = service.with({ TRON_FIRST_INDEX: '0' })
      expect(await read(await set.get('/tron/generate'))).toEqual(issued(1, firstAddress))
      expect(alarms()).toEqual([])
    })

    test('is 503 where an address of the key was emptied, as its account shows', async () => {
      for (const node of service.nodes) node.activated.add(secondAddress)
      expect((await service.get('/tron/generate')).status).toBe(503)
      expect(service.lines.join()).toContain('"alarm":"key-was-used","index":1,"cuy":null')
      expect(await addressCount()).toBe(0)
    })

    test.each([0, 1])('is 503 where the node at index %i hides what the key holds', async (liar) => {
      for (const [i, node] of service.nodes.entries()) {
        if (i !== liar) node.balances.set(addressFrom(firstAddress), 1n)
      }
      expect((await service.get('/tron/generate')).status).toBe(503)
      expect(alarms()).toEqual(['key-was-used'])
    })

    test.each(['rpc', 'api'])('is 503 without an alarm where too few nodes answer by their %s', async (down) => {
      for (const node of service.nodes.slice(down === 'rpc' ? 1 : 0)) {
        node.script = ({ service: asked, calls }) => {
          const isAbout = calls.some(({ method }) => ['eth_getBalance', 'api'].includes(method))
          return asked === down && isAbout ? { kind: 'status', status: 500 } : null
        }
      }
      expect((await service.get('/tron/generate')).status).toBe(503)
      expect(alarms()).toEqual([])
      expect(await addressCount()).toBe(0)
    })

    test('issues the first address in the end where HTTP APIs limit the rate of the questions about accounts', async () => {
      let left = 0
      for (const node of service.nodes) {
        node.script = ({ service: asked }) => {
          if (asked !== 'api') return null
          left -= 1
          return left < 0 ? { kind: 'status', status: 429 } : null
        }
      }
      const statuses: number[] = []
      for (let attempt = 0; attempt < 5; attempt += 1) {
        left = 5
        service.clock.seconds += 600
        statuses.push((await service.get('/tron/generate')).status)
      }
      expect(statuses).toEqual([503, 503, 503, 200, 200])
    })

    test('asks as many nodes as must agree for each asset, one for each account, and none for any later address', async () => {
      const requests = () =>
        service.nodes
          .flatMap((node) => node.requests)
          .filter(({ calls }) => calls.some(({ method }) => ['eth_getBalance', 'eth_call', 'api'].includes(method)))
          .length
      await service.get('/tron/generate')
      expect(requests()).toBe(4 + 20)
      await service.get('/tron/generate', 8)
      expect(requests()).toBe(4 + 20)
    })
  })

  test('is one address for one caller, however many calls there are at once', async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => service.get('/tron/generate')))
    for (const response of responses) expect(await read(response)).toEqual(issued(1, firstAddress))
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

  test.each(['fresh=2', 'fresh=', 'fresh=1&fresh=1', 'format=decimal', 'format='])(
    'refuses ?%s and issues nothing',
    async (query) => {
      expect((await service.get(`/tron/generate?${query}`)).status).toBe(400)
      expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(0)
    },
  )

  test('refuses a further address while as many as the gap limit have no deposit', async () => {
    for (let i = 0; i < gapLimit; i += 1) expect((await service.get('/tron/generate?fresh=1')).status).toBe(200)
    expect((await service.get('/tron/generate?fresh=1')).status).toBe(409)
    expect((await service.get('/tron/generate')).status).toBe(200)
    expect((await service.get('/tron/generate?fresh=1', 8)).status).toBe(200)
  })

  test('shows no address before the height from which it is scanned is stored', async () => {
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 503 })
    const response = await service.get('/tron/generate')
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await response.text()).not.toContain(firstAddress)
  })
})

describe('the query', () => {
  const parse = (query: string) => parseGenerateQuery(`https://wallet.example/x?${query}`)
  const bad = (field: string, why: string) => ({ ok: false, error: { kind: 'bad-input', field, why } })

  test.each([
    ['', { fresh: false, format: 'base58' }],
    ['fresh=0', { fresh: false, format: 'base58' }],
    ['fresh=1', { fresh: true, format: 'base58' }],
    ['format=number', { fresh: false, format: 'number' }],
    ['format=hex&fresh=1', { fresh: true, format: 'hex' }],
  ])('can be "%s"', (query, value) => {
    expect(parse(query)).toEqual({ ok: true, value })
  })

  test('lists the words that a parameter takes', () => {
    expect(parse('fresh=2')).toEqual(bad('fresh', 'one of 0, 1'))
    expect(parse('format=HEX')).toEqual(bad('format', 'one of base58, number, hex'))
  })
})
