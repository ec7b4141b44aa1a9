import { beforeEach, describe, expect, it } from 'vitest'
import type { Address } from '../../src/worker/chain/address.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import {
  addressFrom,
  addressIn,
  failed,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  secondAddress,
  textOf,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'
import {
  addressOf,
  type InternalSpec,
  type TransactionSpec,
  transferLog,
  usdtAddress,
} from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'
import {
  alarmLines,
  alarmsOf,
  balancesOf,
  breakNodes,
  callsOf,
  correct,
  eventsOf,
  repairNodes,
  rescan,
  statesOf,
  tickLater,
  usdtWith,
  withAddress,
} from './harness.ts'

const infoPath = '/wallet/gettransactioninfobyid'
const notKept =
  'if a contract sent TRX to you in it, too few nodes show that, since they may not keep it: it can be asked for again'
const multisender = addressOf(50)

let service: RunningService
let own: Address

beforeEach(async () => {
  const started = await withAddress()
  service = started.service
  own = started.own
  await service.tick()
})

/** A call in which a contract sends TRX by these internal transactions. */
const calling = (internals: readonly InternalSpec[], more: Partial<TransactionSpec & { kind: 'call' }> = {}) =>
  ({ kind: 'call', contract: multisender, from: addressOf(99), internals, ...more }) as const
/** Scans, in a final block, a call in which a contract sends TRX; returns its txid. */
const send = async (internals: readonly InternalSpec[], more: Parameters<typeof calling>[1] = {}) => {
  const [txid = ''] = payFinal(service, calling(internals, more))
  await tickLater(service)
  return txid
}
const ask = async (txid: string, uid = 7, of = service) => read(await of.get(`/tron/recharge?txid=${txid}`, uid))
const why = (status: number, text: string) => failed(status, expect.stringContaining(text))

describe('TRX that a contract sends', () => {
  it('is credited by a question, once, with the place of the call among those that count', async () => {
    const txid = await send([
      { to: addressOf(3), sun: 1 },
      { note: 'freezeBalanceV2ForEnergy', to: own, sun: 9 },
      { to: own, sun: 4_000_000 },
    ])
    expect(await statesOf(service)).toEqual([])
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('success: credited 4 TRX')
    expect(await textOf(service, `/tron/recharge?txid=${txid}`)).toContain('success: already credited 4 TRX')
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 0 })
    expect(await textOf(service, '/wallet/flow/list')).toContain(`"osn":"${txid}:i1"`)
    expect(await textOf(service, '/tron/deposits')).toContain(`"position":"i1","cuy":1,"amt":4,`)
    for (const osn of [txid, `0x${txid}`, `${txid}:i1`]) {
      expect(await textOf(service, `/wallet/flow/list?osn=${osn}`)).toContain('"count":1')
    }
    for (const osn of [`${txid}:1`, `${txid}:i0`, `${txid}:i10`]) {
      expect(await textOf(service, `/wallet/flow/list?osn=${osn}`)).toContain('"count":0')
    }
  })

  it('has its event, with its position, entry and address', async () => {
    const txid = await send([{ to: own, sun: 4_000_000 }])
    await ask(txid)
    const events = await service.ledger('/ledger/events')
    const data = { txid, position: 'i0', address: formatBase58(own), entry: { osn: `${txid}:i0`, amt: 4 } }
    expect(await events.json()).toMatchObject({ data: { list: [{ type: 'deposit.credited', uid: 7, data }] } })
  })

  it('is several deposits where several calls pay, and those of others are theirs', async () => {
    const other = await addressIn(await service.get('/tron/generate', 8))
    const txid = await send([
      { to: own, sun: 1_000_000 },
      { to: other, sun: 2_000_000 },
      { to: own, sun: 1_000_000 },
      { note: 'suicide', to: own, sun: 3_000_000 },
    ])
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect([await balancesOf(service), await balancesOf(service, 8)]).toEqual([
      { 1: 5, 2: 0 },
      { 1: 0, 2: 0 },
    ])
    expect(await ask(txid, 8)).toMatchObject({ status: 200 })
    expect(await balancesOf(service, 8)).toEqual({ 1: 2, 2: 0 })
    expect(await textOf(service, `/wallet/flow/list?osn=${txid}`)).toContain('"count":3')
  })

  it('is credited beside tokens of the same transaction, whether the scan has credited these before or not', async () => {
    const logs = [transferLog(usdtAddress, multisender, own, 5_000_000n)]
    const txid = await send([{ to: own, sun: 4_000_000 }], { logs })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 5 })
    const [second = ''] = payFinal(service, calling([{ to: own, sun: 1_000_000 }], { logs }))
    expect(await ask(second)).toMatchObject({ status: 200 })
    await tickLater(service)
    expect(await balancesOf(service)).toEqual({ 1: 5, 2: 10 })
  })

  it('leaves the answer about tokens as it is if the nodes cannot be asked, and says so', async () => {
    const logs = [transferLog(usdtAddress, multisender, own, 5_000_000n)]
    const txid = await send([{ to: own, sun: 4_000_000 }], { logs })
    breakNodes(service)
    expect(await ask(txid)).toMatchObject({
      status: 200,
      body: {
        msg: 'success: already credited 5 USDT; what contracts have sent in it cannot be read now: ask again',
      },
    })
    const lookedUp = await (await service.ledger(`/ledger/transaction?txid=${txid}`)).json()
    expect(lookedUp).toMatchObject({ data: { uid: 7, why: expect.stringContaining('cannot be read now') } })
    repairNodes(service)
    service.clock.seconds += 600
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 5 })
  })

  it('says beside the tokens that are credited why the TRX is not', async () => {
    const logs = [transferLog(usdtAddress, multisender, own, 5_000_000n)]
    const least = service.with({
      CURRENCIES: [
        { cuy: 1, symbol: 'TRX', decimals: 6, minDeposit: '10' },
        { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 },
      ],
    })
    const txid = await send([{ to: own, sun: 4_000_000 }], { logs })
    expect(await ask(txid, 7, least)).toMatchObject({
      status: 200,
      body: {
        msg: 'success: already credited 5 USDT; 1 transfer not credited: 4 TRX is below the smallest deposit that is credited, 10 TRX',
      },
    })
    const lookedUp = await (await least.ledger(`/ledger/transaction?txid=${txid}`)).json()
    expect(lookedUp).toMatchObject({ data: { uid: 7, why: expect.stringContaining('4 TRX is below') } })
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 5 })
  })

  it('costs no request where TRX was sent by a transaction of its own', async () => {
    const [txid = ''] = payFinal(service, trxTo(own, 1_000_000n))
    await tickLater(service)
    const before = requestsOf(service)
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect(requestsOf(service)).toBe(before)
    const [foreign = ''] = payFinal(service, trxTo(addressOf(3), 1_000_000n))
    expect(await ask(foreign)).toMatchObject({ status: 422 })
    expect(callsOf(service, infoPath)).toEqual([])
  })

  it('that was undone, or failed with its transaction, is worth nothing', async () => {
    const undone = await send([{ to: own, sun: 4_000_000, rejected: true }])
    expect(await ask(undone)).toEqual(failed(422, 'it contains no transfer to one of your addresses'))
    const reverted = await send([{ to: own, sun: 4_000_000, rejected: true }], { failed: true })
    expect(await ask(reverted)).toEqual(why(422, 'the transaction failed'))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })

  it.each([
    ['2^53 sun', { sun: 2 ** 53 }],
    ['TRC-10 alone', { sun: 0, tokens: [{ callValue: 5, tokenId: '1000001' }] }],
    ['a delegation', { sun: 5, note: 'delegateResourceOfEnergy' }],
    ['a contract that is created', { sun: 5, note: 'create' }],
  ])('is not %s', async (_, over) => {
    const txid = await send([{ to: own, ...over }])
    expect(await ask(txid)).toMatchObject({ status: 422 })
    expect(await statesOf(service)).toEqual([])
  })

  it('up to 2^53 − 1 sun is one deposit', async () => {
    const txid = await send([{ to: own, sun: Number.MAX_SAFE_INTEGER }])
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect(await textOf(service, '/wallet/list')).toContain('9007199254.740991')
  })

  it('in a block that is not final is not credited yet', async () => {
    const [{ txid } = { txid: '' }] = service.chain.add([calling([{ to: own, sun: 4_000_000 }])]).transactions
    expect(await ask(txid)).toMatchObject({ status: 409 })
    service.chain.addEmpty(18)
    expect(await ask(txid)).toMatchObject({ status: 200 })
  })

  it('is credited once although its block is read again', async () => {
    const txid = await send([{ to: own, sun: 4_000_000 }])
    await ask(txid)
    await rescan(service, 0, 20)
    await tickLater(service, 60)
    await tickLater(service, 60)
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 0 })
    expect(await eventsOf(service)).toEqual(['deposit.credited'])
  })

  it('before an address was issued to its caller is not the caller’s', async () => {
    const [txid = ''] = payFinal(service, calling([{ to: addressFrom(secondAddress), sun: 4_000_000 }]))
    await tickLater(service)
    expect(await addressIn(await service.get('/tron/generate', 8))).toBe(addressFrom(secondAddress))
    expect(await ask(txid, 8)).toEqual(why(409, 'it was final before this address was issued to you'))
    expect(alarmsOf(service, 'paid-before-issue')).toMatchObject([{ txid, position: 'i0', uid: 8 }])
  })
})

describe('TRX that a contract sends for the service', () => {
  it('is no deposit where the operator has called the contract: gas for many addresses', async () => {
    const operator = addressOf(98)
    const ours = service.with({ OPERATOR_ADDRESSES: [formatBase58(operator)] })
    const [txid = ''] = payFinal(service, calling([{ to: own, sun: 4_000_000 }], { from: operator }))
    await tickLater(ours)
    expect(await ask(txid, 7, ours)).toEqual(why(422, 'sent by the operator of this service'))
  })

  it('is no deposit where one of its addresses has called the contract, or the contract is an operator’s', async () => {
    const [txid = ''] = payFinal(service, calling([{ to: own, sun: 4_000_000 }], { from: own }))
    await tickLater(service)
    expect(await ask(txid)).toEqual(why(422, 'it was sent from one of your own deposit addresses'))
    const ours = service.with({ OPERATOR_ADDRESSES: [formatBase58(multisender)] })
    const [second = ''] = payFinal(service, calling([{ to: own, sun: 4_000_000 }]))
    expect(await ask(second, 7, ours)).toEqual(why(422, 'sent by the operator of this service'))
    expect(await balancesOf(service)).toEqual({ 1: 0, 2: 0 })
  })
})

describe('nodes that need not keep internal transactions', () => {
  it('are said to be the reason where none shows any, and can be asked again', async () => {
    for (const node of service.nodes) node.keepsInternals = false
    const txid = await send([{ to: own, sun: 4_000_000 }])
    expect(await ask(txid)).toEqual(why(422, notKept))
    for (const node of service.nodes) node.keepsInternals = true
    expect(await ask(txid)).toMatchObject({ status: 200 })
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 0 })
  })

  it('are no matter where an accepted token was only transferred, to somebody else: that is what is said', async () => {
    for (const node of service.nodes) node.keepsInternals = false
    const other = await addressIn(await service.get('/tron/generate', 8))
    const txids = payFinal(service, usdtTo(addressOf(4), 5n), usdtTo(other, 5n))
    await tickLater(service)
    const answers = await Promise.all(txids.map((txid) => ask(txid)))
    const elsewhere = failed(422, 'its transfer went to an address that is not one of yours')
    expect(answers).toEqual([elsewhere, elsewhere])
  })

  it('are not enough where one of a quorum of two shows them', async () => {
    const [first] = service.nodes
    if (first === undefined) throw new Error('no node')
    first.keepsInternals = false
    const txid = await send([{ to: own, sun: 4_000_000 }])
    expect(await ask(txid)).toEqual(why(422, notKept))
    expect(alarmLines(service)).toEqual([])
  })

  it('delay it where they cannot be asked: then nothing is said about what they keep', async () => {
    const [first, second] = service.nodes
    if (first === undefined || second === undefined) throw new Error('no node')
    first.keepsInternals = false
    const txid = await send([{ to: own, sun: 4_000_000 }])
    second.script = ({ calls }) => (calls[0]?.method === infoPath ? { kind: 'status', status: 500 } : null)
    first.keepsInternals = true
    expect(await ask(txid)).toEqual(why(503, 'no Tron node'))
  })

  it.each([
    ['another amount', { callValueInfo: [{ callValue: 400_000_000 }] }],
    ['another recipient', { transferTo_address: `41${addressOf(3)}` }],
    ['an undone part', { rejected: true }],
  ])('and disagree about %s delay it', async (_, over) => {
    const [first] = service.nodes
    if (first === undefined) throw new Error('no node')
    const txid = await send([{ to: own, sun: 4_000_000 }])
    type Info = { internal_transactions?: object[] }
    first.script = () =>
      changing(infoPath, (info) => {
        const [one] = (info as Info).internal_transactions ?? []
        return { ...(info as Info), internal_transactions: [{ ...one, ...over }] }
      })
    expect(await ask(txid)).toEqual(failed(409, 'the nodes disagree about this transaction'))
    expect(alarmsOf(service, 'nodes-disagree')).toHaveLength(1)
    first.script = () => null
    expect(await ask(txid)).toMatchObject({ status: 200 })
  })

  it('and of which a single one invents a transfer credit nothing', async () => {
    const [first] = service.nodes
    if (first === undefined) throw new Error('no node')
    const txid = await send([])
    const invented = {
      caller_address: `41${multisender}`,
      transferTo_address: `41${own}`,
      note: '63616c6c',
      callValueInfo: [{ callValue: 4_000_000 }],
    }
    first.script = () => changing(infoPath, (info) => ({ ...(info as object), internal_transactions: [invented] }))
    expect(await ask(txid)).toEqual(why(422, notKept))
    expect(await statesOf(service)).toEqual([])
  })
})

describe('a review', () => {
  it('holds it, and is decided by its position', async () => {
    const reviewed = usdtWith({ reviewFrom: '0' }).map((one) => ({ ...one, reviewFrom: '0' }))
    const careful = service.with({ CURRENCIES: reviewed })
    const [txid = ''] = payFinal(
      service,
      calling([
        { to: addressOf(3), sun: 1 },
        { to: own, sun: 4_000_000 },
      ]),
    )
    await tickLater(careful)
    expect(await ask(txid, 7, careful)).toEqual(failed(409, 'it is being looked at before it is credited'))
    const decide = async (position: unknown) => {
      const deposits = [{ txid, position, decision: 'credit', why: 'looked at' }]
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ deposits }),
      }
      return read(await service.ledger('/ledger/deposits/decide', init))
    }
    for (const position of ['i0', 0, 1]) expect(await decide(position)).toMatchObject({ status: 404 })
    for (const position of ['1', 'i01', 'i-1', 'i', 'I1', ''])
      expect(await decide(position)).toMatchObject({ status: 400 })
    expect(await decide('i1')).toMatchObject({ status: 200, body: { data: { list: [{ position: 'i1', amt: 4 }] } } })
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 0 })
  })
})

describe('a correction below it', () => {
  it('looks for it again, and says that it was not found: the scan does not see it', async () => {
    const txid = await send([{ to: own, sun: 4_000_000 }])
    await ask(txid)
    const { height } = service.chain.blockOf(txid) ?? { height: 0 }
    await correct(service, height - 1)
    await tickLater(service)
    await tickLater(service)
    expect(alarmsOf(service, 'corrected-credit')).toMatchObject([{ txid, position: 'i0', uid: 7 }])
    expect(await balancesOf(service)).toEqual({ 1: 4, 2: 0 })
  })
})

describe('the look-up for backends', () => {
  it('says that the question of its owner credits it', async () => {
    const txid = await send([{ to: own, sun: 4_000_000 }])
    const answer = await service.ledger(`/ledger/transaction?txid=${txid}`)
    expect(await answer.json()).toMatchObject({ code: 200, data: { uid: 7 } })
    expect(await statesOf(service)).toEqual([])
    await ask(txid)
    const after = await service.ledger(`/ledger/transaction?txid=${txid}`)
    expect(await after.json()).toMatchObject({ code: 200, data: { uid: 7 } })
  })
})
