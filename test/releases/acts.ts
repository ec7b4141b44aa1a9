import { type Address, formatBase58, parseAddress } from '../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight } from '../../src/worker/chain/block.ts'
import { usdtTo } from '../http/service.ts'
import { contentOf, mined, recipient } from '../payouts/harness.ts'
import { type SignedPayout, signTransfer } from '../support/payouts.ts'
import type { Stage } from './stage.ts'

const uid = 7
/** Deposits from this amount on are held for review in the deployment `story`. */
const reviewed = 501_000_000n

let acts = 0

/**
 * Does what users, backends and people do all day, with the deployment `story`: each call does
 * something new. Returns a sentence for each thing that went wrong.
 */
export async function act(stage: Stage): Promise<readonly string[]> {
  acts += 1
  await stage.mine() // what was under way before
  const name = `act-${acts}`
  const faults: string[] = []
  for (const [what, work] of Object.entries({ post, credit, review, takeOrder, cancelOrder, pay, fail, cancel })) {
    try {
      await work(stage, name)
    } catch (error) {
      faults.push(`${stage.name}, ${what}: ${error instanceof Error ? error.message : error}`)
    }
  }
  return faults
}

type List<T> = { readonly data: { readonly list: readonly T[] } }

/** Sends what must be accepted; returns the list in the answer. */
async function ask<T = Record<string, unknown>>(
  stage: Stage,
  path: string,
  body?: unknown,
  as: number | string = 'shop',
): Promise<readonly T[]> {
  const { status, body: text } = await stage.send(as, path, body)
  if (status !== 200)
    throw new Error(`${body === undefined ? 'GET' : 'POST'} ${path} answers ${status} ${text.slice(0, 200)}`)
  const { data } = JSON.parse(text) as List<T> // safe: an answer of the service
  return data.list ?? []
}

function expectSame(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`)
}

async function addressOf(stage: Stage): Promise<Address> {
  const { body } = await stage.send(uid, '/tron/generate')
  return parse(/"address":"(T\w{33})"/.exec(body)?.[1] ?? body)
}

function parse(base58: string): Address {
  const address = parseAddress(base58)
  if (!address.ok) throw new Error(`no address: ${base58}`)
  return address.value
}

/** The balance of the user in USDT, in smallest units. */
async function balance(stage: Stage): Promise<number> {
  const list = await ask<{ cuy: number; amt: number }>(stage, '/wallet/list', undefined, uid)
  return Math.round((list.find(({ cuy }) => cuy === 2)?.amt ?? 0) * 1e6)
}

async function post(stage: Stage, name: string): Promise<void> {
  const before = await balance(stage)
  const entries = [
    { uid, cuy: 2, type: 5, osn: name, amt: '30', mark: 'a refund' },
    { uid, cuy: 2, type: 4, osn: name, amt: '-1.5', mark: 'tea' },
  ]
  await ask(stage, '/ledger/entries', { entries })
  await ask(stage, '/ledger/entries', { entries }) // again, as after a lost answer
  expectSame('the balance', await balance(stage), before + 28_500_000)
}

async function credit(stage: Stage): Promise<void> {
  const before = await balance(stage)
  await stage.mine(usdtTo(await addressOf(stage), 21_000_000n))
  expectSame('the balance after a deposit', await balance(stage), before + 21_000_000)
}

interface Held {
  readonly txid: string
  readonly position: number
  readonly state: string
}

async function review(stage: Stage): Promise<void> {
  const held = async () => ask<Held>(stage, `/ledger/deposits?uid=${uid}&state=held`)
  const known = (await held()).length
  for (const [index, decision] of ['refuse', 'credit'].entries()) {
    await stage.mine(usdtTo(await addressOf(stage), reviewed + BigInt(index)))
    const [newest, ...others] = await held()
    expectSame('what is held for review', others.length, known)
    const deposits = [{ txid: newest?.txid, position: newest?.position, decision, why: 'looked at' }]
    await ask(stage, '/ledger/deposits/decide', { deposits }, 'office')
  }
  expectSame('what is held after the decisions', (await held()).length, known)
}

async function takeOrder(stage: Stage, name: string): Promise<void> {
  const reference = `${name}-taken`
  const order = { uid, cuy: 2, amt: '4', order: reference, take: true }
  const [asked] = await ask<{ address: string }>(stage, '/ledger/orders', { orders: [order] })
  await stage.mine() // what counts is in a block that is made after the order
  await stage.mine(usdtTo(parse(asked?.address ?? ''), 4_000_000n))
  const [paid] = await ask<{ state: string; taken: boolean }>(stage, `/ledger/orders?order=${reference}`)
  expectSame('the state of the order', `${paid?.state} ${paid?.taken}`, 'paid true')
}

async function cancelOrder(stage: Stage, name: string): Promise<void> {
  const order = `${name}-cancelled`
  await ask(stage, '/ledger/orders', { orders: [{ uid, cuy: 2, amt: '4', order }] })
  await ask(stage, '/ledger/orders/cancel', { orders: [{ uid, order }], why: 'sold out' })
  const [cancelled] = await ask<{ state: string }>(stage, `/ledger/orders?order=${order}`)
  expectSame('the state of the order', cancelled?.state, 'cancelled')
}

interface Payout {
  readonly id: number
  readonly state: string
}

async function askPayout(stage: Stage, osn: string, changes: object = {}): Promise<Payout> {
  const payout = { uid, cuy: 2, amt: '5', to: formatBase58(recipient), osn, ...changes }
  const [asked] = await ask<Payout>(stage, '/ledger/payouts', { payouts: [payout] })
  if (asked === undefined) throw new Error('no payout')
  return asked
}

async function expectState(stage: Stage, id: number, state: string): Promise<void> {
  const [payout] = await ask<Payout>(stage, `/ledger/payouts?before=${id + 1}&limit=1`)
  expectSame(`the state of payout ${id}`, payout?.state, state)
}

/** Hands in a transaction of the payout, with bytes of its own. */
async function handIn(stage: Stage, id: number): Promise<SignedPayout> {
  const { height, hash, timestamp } = stage.head()
  const head = { height: height as BlockHeight, hash: hash as BlockHash, timestamp } // safe: of a block of the chain
  const signed = signTransfer(contentOf(head, { timestamp: BigInt(timestamp + id) }))
  const [handed] = await ask<Payout>(stage, '/ledger/payouts/signed', {
    signed: [{ id, transaction: signed.transaction }],
  })
  expectSame('what is handed in', handed?.state, 'signed')
  return signed
}

async function pay(stage: Stage, name: string): Promise<void> {
  const { id, state } = await askPayout(stage, `${name}-paid`)
  expectSame('the state of a new payout', state, 'approved')
  const signed = await handIn(stage, id)
  await stage.mine(mined(signed))
  await expectState(stage, id, 'paid')
}

async function fail(stage: Stage, name: string): Promise<void> {
  const { id } = await askPayout(stage, `${name}-failed`)
  await stage.mine(mined(await handIn(stage, id), { failed: true, logs: [] }))
  await expectState(stage, id, 'stuck')
  await ask(stage, '/ledger/payouts/cancel', { ids: [id], why: 'it failed' }, 'office')
  await expectState(stage, id, 'cancelled')
}

async function cancel(stage: Stage, name: string): Promise<void> {
  const { id, state } = await askPayout(stage, `${name}-waiting`, { amt: '0.5' }) // below what is approved by itself
  expectSame('the state of a small payout', state, 'waiting')
  await ask(stage, '/ledger/payouts/approve', { ids: [id] }, 'office')
  await expectState(stage, id, 'approved')
  await ask(stage, '/ledger/payouts/cancel', { ids: [id], why: 'another address' })
  await expectState(stage, id, 'cancelled')
}
