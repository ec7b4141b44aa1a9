import { beforeEach, describe, expect, test } from 'vitest'
import { reservedUid } from '../../../src/worker/common/ids.ts'
import { callsOf } from '../../scan/harness.ts'
import type { ScriptedNode } from '../../support/scripted-node.ts'
import { usdtAddress } from '../../support/transaction-spec.ts'
import {
  addressFrom,
  alarmsIn,
  cellCount,
  failed,
  firstAddress,
  nodesWith,
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
    const first = addressFrom(firstAddress)
    const second = addressFrom(secondAddress)

    test.each<[string, (node: ScriptedNode, i: number) => unknown]>([
      ['holds TRX at its first address', (node) => node.balances.set(first, 1n)],
      ['holds a token at its second address', (node) => node.balances.set(`${usdtAddress} ${second}`, 1n)],
      ['had an address that was emptied, as its account shows', (node) => node.activated.add(secondAddress)],
      ['holds something that the first node hides', (node, i) => i === 1 && node.balances.set(first, 1n)],
      ['holds something that the second node hides', (node, i) => i === 0 && node.balances.set(first, 1n)],
    ])('is 503 with one alarm where the key %s, until TRON_FIRST_INDEX is set', async (_what, give) => {
      for (const [i, node] of service.nodes.entries()) give(node, i)
      for (const uid of [7, 8]) expect((await service.get('/tron/generate', uid)).status).toBe(503)
      expect((await service.get('/tron/generate?fresh=1')).status).toBe(503)
      expect(alarmsIn(service)).toEqual(['key-was-used'])
      expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(0)
      const set = service.with({ TRON_FIRST_INDEX: '1' })
      expect(await read(await set.get('/tron/generate'))).toEqual(issued(2, secondAddress))
    })

    test('ends that alarm where its used addresses are reserved, which it then does not issue', async () => {
      for (const node of service.nodes) node.balances.set(first, 1n)
      expect((await service.get('/tron/generate')).status).toBe(503)
      const alarms = () => service.db.prepare('SELECT kind FROM alarm').raw()
      expect(await alarms()).toEqual([['key-was-used']])
      const columns = 'id, uid, address, issued_height, created_at'
      await service.db
        .prepare(`INSERT INTO stored_address (${columns}) VALUES (1, ${reservedUid}, unhex(?1), 0, 0)`)
        .bind(first)
        .run()
      await service.tick()
      expect(await read(await service.with({}).get('/tron/generate'))).toEqual(issued(2, secondAddress))
      expect(await alarms()).toEqual([])
    })

    test('is 503 where the Worker has another TRON_FIRST_INDEX than the scanner, as during a deployment', async () => {
      const older = service.with({}, service.with({ TRON_FIRST_INDEX: '1' }))
      expect((await older.get('/tron/generate')).status).toBe(503)
      expect(await service.db.prepare('SELECT count(*) AS n FROM address').first('n')).toBe(0)
    })

    test('takes 0 as a first index that is set', async () => {
      for (const node of service.nodes) node.balances.set(first, 1n)
      const set = service.with({ TRON_FIRST_INDEX: '0' })
      expect(await read(await set.get('/tron/generate'))).toEqual(issued(1, firstAddress))
      expect(alarmsIn(service)).toEqual([])
    })

    test('is issued to each of several users at once, by one check of the key for which all wait', async () => {
      const usual = service.with(nodesWith({ perSecond: 15 * cellCount(), perDay: 100_000 * cellCount() }))
      const answers = await Promise.all([7, 8, 9, 10].map((uid) => usual.get('/tron/generate', uid)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const accounts = callsOf(usual, '/wallet/getaccount')
      expect(accounts).toHaveLength(20 * usual.nodes.length)
    })

    test.each(['rpc', 'api'])('is 503 without an alarm where too few nodes answer by their %s', async (down) => {
      for (const node of service.nodes.slice(down === 'rpc' ? 1 : 0)) {
        node.script = (incoming) => (incoming.service === down ? { kind: 'status', status: 500 } : null)
      }
      expect((await service.get('/tron/generate')).status).toBe(503)
      expect(alarmsIn(service)).toEqual([])
    })
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
})

test.each([
  ['fresh=2', 'fresh: one of 0, 1'],
  ['format=HEX', 'format: one of base58, number, hex'],
])('the failure of ?%s lists the words that the parameter takes', async (query, msg) => {
  expect(await read(await service.get(`/tron/generate?${query}`))).toEqual(failed(400, msg))
})
