import { beforeAll, expect, it } from 'vitest'
import { blockSeconds } from '../../../src/worker/chain/block.ts'
import { writable } from '../../../src/worker/d1/database.ts'
import { foundMax } from '../../../src/worker/http/routes/ledger-search.ts'
import { candidatesMax } from '../../../src/worker/search/store.ts'
import { numbers, withoutTriggers } from '../../d1/fixtures.ts'
import { ask, recipientBase58, signedPayout, startPaying } from '../../payouts/harness.ts'
import { addressFrom, firstAddress, payFinal, type RunningService, read, trxTo } from '../service.ts'

let service: RunningService
const address = firstAddress
let [deposit, payment] = ['', '']

beforeAll(async () => {
  service = await startPaying()
  await service.get('/tron/generate')
  deposit = payFinal(service, trxTo(addressFrom(address), 3_500_000n))[0] ?? ''
  service.clock.seconds += blockSeconds // a scan younger than a block is not repeated
  await service.get('/tron/recharge')
  payment = (await signedPayout(service)).txid
})

const search = async (begin: string, end?: string) => {
  const { body } = await read(
    await service.ledger(`/ledger/search?begin=${begin}${end === undefined ? '' : `&end=${end}`}`),
  )
  return (body as { data: { list: { address?: string; txid?: string }[]; more: boolean } }).data
}

it('finds an issued address by its beginning, and by its end beside it', async () => {
  const found = { list: [{ address }], more: false }
  expect(await search(address.slice(0, 6))).toEqual(found)
  expect(await search(address.slice(0, 4), address.slice(-6))).toEqual(found)
  expect(await search(address.slice(0, 33))).toEqual(found)
  expect(await search(address.slice(0, 6), 'zzzz')).toEqual({ list: [], more: false })
})

it('finds the recipient of a payout once, however many payouts it has', async () => {
  await ask(service, { osn: 'another' })
  expect(await search(recipientBase58.slice(0, 6))).toEqual({ list: [{ address: recipientBase58 }], more: false })
})

it('finds the transactions of deposits and of payouts', async () => {
  expect(await search(deposit.slice(0, 6), deposit.slice(-6))).toEqual({ list: [{ txid: deposit }], more: false })
  expect(await search(payment.slice(0, 63))).toEqual({ list: [{ txid: payment }], more: false })
})

it('finds nothing where nothing begins so, also where no address can', async () => {
  for (const begin of ['T111', 'Tzzzz', '0000000']) expect(await search(begin)).toEqual({ list: [], more: false })
})

it('shows at most so many, and says that there can be more', async () => {
  const insert = (count: number, prefix: string) =>
    withoutTriggers(writable(service.db), [
      `${numbers(count)} INSERT INTO stored_transfer
        (id, txid, position, height, cuy, uid, from_address, to_address, raw, native, state, reason, amount, created_at,
        changed_at)
        SELECT ${Number.parseInt(prefix, 16)} * 1000 + i, unhex(printf('${prefix}%060x', i)), 0, 1, 1, 7, zeroblob(20),
        zeroblob(20), 1, 1, 'refused', 'dust', 0, 1, 1 FROM n`,
    ])
  await insert(foundMax, 'aaa1')
  expect(await search('aaa1')).toMatchObject({ list: { length: foundMax }, more: false })
  await insert(foundMax + 1, 'aaa2')
  expect(await search('aaa2')).toMatchObject({ list: { length: foundMax }, more: true })
  // Of more than can be looked at, those that end so may be among the others.
  await insert(candidatesMax + 1, 'aaa3')
  const end = candidatesMax.toString(16).padStart(3, '0')
  expect(await search('aaa3', end)).toMatchObject({ list: { length: 1 }, more: true })
  expect(await search('aaa3', 'fff')).toEqual({ list: [], more: true })
})
