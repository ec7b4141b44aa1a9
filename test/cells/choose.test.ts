import { beforeAll, describe, expect, test } from 'vitest'
import { documentedOperations } from '../../src/worker/http/openapi/document.ts'
import { ledgerRoutes } from '../../src/worker/http/routes.ts'
import { postInit, type RunningService, read } from '../http/service.ts'
import { payoutsSetting } from '../payouts/harness.ts'
import { startThreeCells, threeCells, users } from './three-cells.ts'

// One rule for every route of backends and every RPC method: the users of a request choose its
// cell, `cell` must not say otherwise, and a request that can name no user needs `cell`.

const [, user] = users
const otherCell = { status: 422, body: { msg: 'its users are in cell 2, not in cell 3' } }
const withoutCell = { status: 400, body: { msg: expect.stringMatching(/^cell: the number of a cell/) } }
const withCell = (path: string, cell: number) => `${path}${path.includes('?') ? '&' : '?'}cell=${cell}`

let service: RunningService
beforeAll(async () => {
  const [first, second, third] = threeCells
  service = await startThreeCells({ CELLS: [first, { ...second, payouts: payoutsSetting }, third] })
})

const operations = documentedOperations()
  .filter(({ path }) => path.startsWith('/ledger/'))
  .map(({ method, path, operation }) => {
    const { query = '', request } = operation.examples[0] ?? {}
    const namesInQuery = operation.parameters !== undefined && 'uid' in operation.parameters
    return { method: method.toUpperCase(), path, query, request, namesInQuery }
  })

/** The example with this user wherever it names one. */
const ofUser = (request: unknown): object | undefined =>
  request === undefined ? undefined : JSON.parse(JSON.stringify(request).replaceAll(/"uid":\d+/g, `"uid":${user}`))

test('every route of backends is tried', () => {
  const namesOf = (list: readonly { readonly method: string; readonly path: string }[]) =>
    new Set(list.map(({ method, path }) => `${method} ${path}`))
  expect(namesOf(operations)).toEqual(namesOf(ledgerRoutes))
})

describe.each(operations)('$method $path', ({ method, path, query, request, namesInQuery }) => {
  const body = ofUser(request)
  const namesInBody = body !== undefined && JSON.stringify(body).includes('"uid"')
  const url = path === '/ledger/transaction' ? `${path}${query}&uid=${user}` : `${path}?uid=${user}`
  const isByUser = namesInBody || namesInQuery || path === '/ledger/transaction'
  const ask = async (asked: string) => read(await service.ledger(asked, body === undefined ? {} : postInit(body)))
  const asked = method === 'POST' ? path : url

  test(isByUser ? 'goes to the cell of its users, and to no other one' : 'goes to no cell by a uid', async () => {
    const free = await ask(asked)
    if (isByUser) {
      expect(free).not.toMatchObject(withoutCell)
      expect(await ask(withCell(asked, 3))).toMatchObject(otherCell)
    } else {
      expect(free).toMatchObject(withoutCell)
      expect(await ask(`${path}?uid=${user}`)).toMatchObject(withoutCell)
      expect(await ask(withCell(asked, 3))).not.toMatchObject(otherCell)
    }
    const own = await ask(withCell(asked, 2))
    expect(own).not.toMatchObject(withoutCell)
    expect(own).not.toMatchObject(otherCell)
  })
})

describe('over RPC', () => {
  const options = (cell?: number) => (cell === undefined ? {} : { cell })
  const entry = { uid: user, cuy: 2, type: 9, osn: 'x', amt: '1' } as const
  const payout = { uid: user, cuy: 2, amt: '1', to: 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4', osn: 'y' }
  const order = { uid: user, cuy: 2, amt: '1', order: 'z' }
  const decision = { txid: 'ab'.repeat(32), position: 0, decision: 'credit', why: 'x' } as const
  type Calls = { readonly [Name in keyof RunningService['rpc']]: (cell?: number) => Promise<unknown> }
  const ofUsers = (): Partial<Calls> => ({
    post: (cell) => service.rpc.post([entry], 'shop', options(cell)),
    askPayouts: (cell) => service.rpc.askPayouts([payout], 'shop', options(cell)),
    entries: (cell) => service.rpc.entries({ uid: user, ...options(cell) }),
    wallets: (cell) => service.rpc.wallets(user, options(cell)),
    address: (cell) => service.rpc.address(user, options(cell)),
    payouts: (cell) => service.rpc.payouts({ uid: user, ...options(cell) }),
    orders: (cell) => service.rpc.orders({ uid: user, ...options(cell) }),
    askOrders: (cell) => service.rpc.askOrders([order], 'shop', options(cell)),
    cancelOrders: (cell) => service.rpc.cancelOrders([{ uid: user, order: 'z' }], 'shop', options(cell)),
  })
  const ofNobody = (): Partial<Calls> => ({
    events: (cell) => service.rpc.events(0, 100, options(cell)),
    decideDeposits: (cell) => service.rpc.decideDeposits([decision], 'shop', options(cell)),
    approvePayouts: (cell) => service.rpc.approvePayouts([1], 'office', options(cell)),
    cancelPayouts: (cell) => service.rpc.cancelPayouts([1], 'x', 'shop', options(cell)),
    payouts: (cell) => service.rpc.payouts(options(cell)),
    orders: (cell) => service.rpc.orders(options(cell)),
    checkpoint: (cell) => service.rpc.checkpoint(options(cell)),
  })
  const otherOf = { ok: false, error: { kind: 'other-cell', reason: 'other-cell', why: otherCell.body.msg } }
  const wantsCell = { ok: false, error: { kind: 'bad-input', member: 'cell' } }

  test('every method is tried', () => {
    const tried = new Set([...Object.keys(ofUsers()), ...Object.keys(ofNobody())])
    expect(tried).toEqual(new Set(Object.keys(service.rpc)))
  })

  test('a call goes to the cell of its users, and to no other one', async () => {
    for (const [method, call] of Object.entries(ofUsers())) {
      expect([method, await call(3)]).toEqual([method, otherOf])
      expect([method, await call(4)]).toMatchObject([method, wantsCell])
      expect([method, await call(2)]).not.toMatchObject([method, { error: { kind: 'other-cell' } }])
      expect([method, await call()]).not.toMatchObject([method, wantsCell])
    }
  })

  test('a call without users wants a cell', async () => {
    for (const [method, call] of Object.entries(ofNobody())) {
      expect([method, await call()]).toMatchObject([method, wantsCell])
      expect([method, await call(2)]).not.toMatchObject([method, wantsCell])
    }
  })
})
