import { describe, expect, it } from 'vitest'
import { type Address, formatBase58 } from '../../src/worker/chain/address.ts'
import { transferTopic } from '../../src/worker/chain/block.ts'
import type { Reason } from '../../src/worker/common/reasons.ts'
import {
  addressFrom,
  addressIn,
  failed,
  firstAddress,
  payFinal,
  type RunningService,
  read,
  requestsOf,
  startService,
  trxTo,
  usdtTo,
} from '../http/service.ts'
import { changing } from '../support/scripted-node.ts'
import { addressOf, type LogSpec, type TransactionSpec, usdtAddress } from '../support/transaction-spec.ts'
import { alarmsOf, eventsOf, retiredUsdt, statesOf, withAddress, withDeposit } from './harness.ts'

const lookUp = async (service: RunningService, txid: string) =>
  read(await service.ledger(`/ledger/transaction?txid=${txid}`))
const found = (uid: number | null, answer: string, reason?: Reason) => ({
  status: 200,
  body: { data: { uid, answer, ...(reason === undefined ? {} : { reason }) } },
})

/**
 * Checks that support reads the sentence and the reason that the owner of the transaction gets, and
 * that the look-up changes nothing.
 */
async function expectAnswerOfOwner(service: RunningService, txid: string, uid = 7): Promise<void> {
  const before = [await statesOf(service), await eventsOf(service)]
  const { body } = (await lookUp(service, txid)) as { body: { data: { why: string; reason: string } } }
  expect([await statesOf(service), await eventsOf(service)]).toEqual(before)
  const response = await service.get(`/tron/recharge?txid=${txid}`, uid)
  const { msg } = await response.json<{ msg: string }>()
  expect([body.data.why, body.data.reason]).toEqual([msg, response.headers.get('x-reason')])
}

describe('a transaction that support looks up', () => {
  it('credits nothing: its owner and the scan do', async () => {
    const { service, txid } = await withDeposit()
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'creditable'))
    expect([await statesOf(service), await eventsOf(service)]).toEqual([[], []])
    await service.tick()
    const before = requestsOf(service)
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'credited'))
    // one request to each of two nodes, which asks whether the contract also sent TRX
    expect(requestsOf(service)).toBe(before + 2)
  })

  it('has the answer that its owner would get', async () => {
    const { service, own } = await withAddress({ OPERATOR_ADDRESSES: [formatBase58(addressOf(97))] })
    const second = await addressIn(await service.get('/tron/generate?fresh=1'))
    const trc10: TransactionSpec = { kind: 'trc10', from: addressOf(98), to: own, amount: 5n }
    const strange: TransactionSpec = { ...usdtTo(own, 5n), contract: addressOf(44) } as TransactionSpec
    const gas: TransactionSpec = { kind: 'trx', from: addressOf(97), to: own, amount: 5n }
    const between: TransactionSpec = { kind: 'trx', from: own, to: second, amount: 5n }
    const out: TransactionSpec = { kind: 'trx', from: own, to: addressOf(4), amount: 5n }
    const txids = payFinal(service, trc10, strange, gas, between, out)
    for (const txid of txids) {
      expect(await lookUp(service, txid)).toMatchObject(found(7, 'worthless'))
      await expectAnswerOfOwner(service, txid)
    }
    await service.tick()
    for (const txid of txids) await expectAnswerOfOwner(service, txid)
    const [unfinal = ''] = service.chain.add([usdtTo(own, 5n)]).transactions.map((one) => one.txid)
    expect(await lookUp(service, unfinal)).toMatchObject(found(null, 'not-final', 'not-final'))
    service.clock.seconds += 20
    await service.tick()
    expect(await lookUp(service, unfinal)).toMatchObject(found(7, 'not-final', 'not-final'))
  })

  it('is held or refused as it is stored', async () => {
    const { service, own } = await withAddress({ CURRENCIES: retiredUsdt })
    const [txid = ''] = payFinal(service, usdtTo(own, 5n))
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'worthless', 'retired'))
    await service.tick()
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'worthless', 'retired'))
    await expectAnswerOfOwner(service, txid)
  })

  it('is that of the first of several users, whatever became of the others', async () => {
    const { service, own } = await withAddress({ CURRENCIES: retiredUsdt })
    const other = await addressIn(await service.get('/tron/generate', 8))
    const log = (to: Address): LogSpec => ({
      contract: usdtAddress,
      topics: [transferTopic, `0x${addressOf(99).padStart(64, '0')}`, `0x${to.padStart(64, '0')}`],
      data: `0x${'5'.padStart(64, '0')}`,
    })
    const both: TransactionSpec = {
      kind: 'call',
      contract: usdtAddress,
      from: addressOf(99),
      logs: [log(other), log(own)],
    }
    const [txid = ''] = payFinal(service, both)
    expect(await lookUp(service, txid)).toMatchObject(found(8, 'worthless', 'retired'))
    await service.tick()
    expect(await lookUp(service, txid)).toMatchObject(found(8, 'worthless', 'retired'))
    await expectAnswerOfOwner(service, txid, 8)
  })

  it('waits for room where the wallet of its owner is full', async () => {
    const { service, own } = await withAddress()
    await service.post([{ uid: 7, cuy: 2, type: 9, osn: 'full', amt: '9007199254.740991' }])
    const [txid = ''] = payFinal(service, usdtTo(own, 5n))
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'undecided', 'wallet-full'))
    await expectAnswerOfOwner(service, txid)
  })

  it('concerns no user where it pays none, or is known to no node', async () => {
    const { service } = await withAddress()
    const [strange = ''] = payFinal(service, trxTo(addressOf(4), 5n))
    expect(await lookUp(service, strange)).toMatchObject(found(null, 'worthless', 'no-transfer'))
    expect(await lookUp(service, 'ab'.repeat(32))).toMatchObject(found(null, 'unknown'))
  })

  it('was final before the address was issued: its owner gets an alarm by asking, and support none', async () => {
    const service = await startService()
    const [txid = ''] = payFinal(service, usdtTo(addressFrom(firstAddress), 5_000_000n))
    await service.get('/tron/generate')
    expect(await lookUp(service, txid)).toMatchObject(found(7, 'undecided', 'paid-before-issue'))
    expect(alarmsOf(service, 'paid-before-issue')).toEqual([])
    await expectAnswerOfOwner(service, txid)
  })

  it('is undecided where the nodes disagree, and an error where none answers', async () => {
    const { service, txid } = await withDeposit()
    const [first, second] = service.nodes
    if (first === undefined || second === undefined) throw new Error('two nodes')
    first.script = () => changing('eth_getLogs', () => [])
    expect(await lookUp(service, txid)).toMatchObject(found(null, 'undecided', 'nodes-disagree'))
    for (const node of service.nodes) node.script = () => ({ kind: 'status', status: 500 })
    expect(await lookUp(service, txid)).toMatchObject({ status: 503 })
  })

  it('is the same whatever user is named beside it: a transaction says itself whom it concerns', async () => {
    const { service, txid } = await withDeposit()
    await service.tick()
    for (const uid of ['7', '8', 'x']) {
      expect(await lookUp(service, `${txid}&uid=${uid}`)).toMatchObject(found(7, 'credited'))
    }
  })

  it('is named by its txid', async () => {
    const refused = failed(400, 'txid: 64 hex digits, optionally prefixed with 0x')
    expect(await read(await (await startService()).ledger('/ledger/transaction'))).toEqual(refused)
  })
})
