import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { expect, it } from 'vitest'
import { deriveAddress, parseExtendedPublicKey } from '../../src/worker/addresses/derive.ts'
import { addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'
import { encodeTransfer } from '../../src/worker/chain/transaction.ts'
import { addressFrom, addressIn, secondAddress, startService } from '../http/service.ts'
import { alarmsOf, balancesOf, correct, headOf, statesOf, tickLater } from '../scan/harness.ts'
import { payoutAddress, payoutBase58, signBytes } from '../support/payouts.ts'
import { addressOf, usdtAddress } from '../support/transaction-spec.ts'
import { testXpub } from '../support/variables.ts'
import {
  ask,
  balance,
  contentOf,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  passBlocks,
  payoutsSetting,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

it('a payout address that was issued here is refused: nothing is served', async () => {
  const service = await startService()
  await service.get('/tron/generate')
  const columns = 'id, uid, address, issued_height, created_at'
  await service.db
    .prepare(
      `INSERT INTO stored_address (${columns}) VALUES (2, 8, unhex('${payoutAddress}'), (SELECT finalized FROM scan), 5)`,
    )
    .run()
  const changed = service.with({ PAYOUTS: payoutsSetting })
  expect((await changed.get('/wallet/list')).status).toBe(503)
  expect(alarmsOf(service, 'configuration-differs')).toMatchObject([{ setting: 'PAYOUTS' }])
})

it('while a payout is signed another payout address is refused, and taken once it is paid', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  const other = { PAYOUTS: { ...payoutsSetting, address: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' } }
  expect((await service.with(other).get('/wallet/list')).status).toBe(503)
  expect(alarmsOf(service, 'configuration-differs')).toMatchObject([
    { setting: 'PAYOUTS', stored: `${payoutBase58} has a signed payout` },
  ])
  await mineFinal(service, mined(signed))
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  expect((await service.with(other).get('/wallet/list')).status).toBe(200)
})

it('a correction that opens a payout of the address before stops no scan: both addresses are right until it ends', async () => {
  const otherKey = new Uint8Array(32).fill(7)
  const otherHex = bytesToHex(keccak_256(secp256k1.getPublicKey(otherKey, false).subarray(1)).subarray(12))
  const otherAddress = addressFromHex(otherHex)
  if (otherAddress === null) throw new Error('20 bytes are an address')
  const service = await startPaying()
  const before = await signedPayout(service)
  const height = await mineFinal(service, mined(before))
  const other = service.with({ PAYOUTS: { ...payoutsSetting, address: formatBase58(otherAddress) } })
  const { id } = await ask(other)
  const content = { ...contentOf(await headOf(other)), from: otherAddress }
  const { transaction } = signBytes(encodeTransfer(content), otherKey)
  expect(await handIn(other, id, transaction)).toMatchObject({ state: 'signed' })
  await correct(service, height - 1)
  expect(await stateOfPayout(service, before.id)).toBe('signed/0')
  for (const one of [service.with({}), other.with({})]) {
    expect((await one.get('/wallet/list')).status).toBe(200)
    expect(await offered(one)).toBe('configuration-differs')
  }
  await passBlocks(other.with({}), 1)
  expect(await stateOfPayout(other, before.id)).toBe('paid/0')
  expect(await stateOfPayout(other, id)).toBe('signed/0')
  expect((await service.with({}).get('/wallet/list')).status).toBe(503)
  expect(await offered(other)).toEqual([])
})

it('an instance that was right before a payout of another address was signed offers and takes nothing', async () => {
  const service = await startPaying()
  const other = service.with({ PAYOUTS: { ...payoutsSetting, address: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' } })
  expect(await offered(other)).toEqual([])
  await signedPayout(service)
  const { id } = await ask(service)
  expect(await offered(other)).toBe('configuration-differs')
  expect(await offered(service)).toEqual([id])
  // As if the instance with the other payout address had signed the stored transaction.
  await service.db.prepare('DROP TRIGGER payout_transaction_takes_its_steps').run()
  await service.db.prepare(`UPDATE payout_transaction SET address = '${addressOf(90)}'`).run()
  const { transaction } = await sign(service, { timestamp: 1n })
  expect(await handIn(service, id, transaction)).toMatchObject({
    refused: { code: 409, reason: 'configuration-differs' },
  })
})

it('a payout address that was issued after the settings were compared is paid from no more', async () => {
  const service = await startPaying()
  const { id } = await ask(service)
  const { transaction } = await sign(service)
  const columns = 'id, uid, address, issued_height, created_at'
  await service.db
    .prepare(
      `INSERT INTO stored_address (${columns}) VALUES (2, 8, unhex('${payoutAddress}'), (SELECT finalized FROM scan), 5)`,
    )
    .run()
  expect(await offered(service)).toBe('configuration-differs')
  expect(await handIn(service, id, transaction)).toMatchObject({
    refused: { code: 409, reason: 'configuration-differs' },
  })
})

it('the payout address is not issued where the key has it: the next user gets none, and those with one keep it', async () => {
  const key = parseExtendedPublicKey(testXpub)
  if (!key.ok) throw new Error(key.error)
  const address = formatBase58(deriveAddress(key.value, 21))
  const service = await startService({ PAYOUTS: { address }, TRON_FIRST_INDEX: '20' })
  expect((await service.get('/tron/generate')).status).toBe(200)
  const next = await service.get('/tron/generate', 8)
  expect([next.status, next.headers.get('x-reason')]).toEqual([503, 'configuration-differs'])
  expect((await service.get('/tron/generate?fresh=1')).status).toBe(503)
  expect((await service.get('/tron/generate')).status).toBe(200)
})

it('a payout to an address that was issued since it was asked for waits and says why, until it is cancelled', async () => {
  const service = await startPaying()
  const { id } = await ask(service, { to: secondAddress })
  const { id: other } = await ask(service)
  const to = addressFrom(secondAddress)
  const signed = await sign(service, { to })
  expect(await addressIn(await service.get('/tron/generate', 8))).toBe(to)
  expect(await offered(service)).toEqual([other])
  expect((await shown(service, id)).why).toMatch(/^it waits: to is the address of a user here now/)
  expect((await shown(service, other)).why).toBeUndefined()
  expect(await handIn(service, id, signed.transaction)).toMatchObject({ refused: { code: 422, reason: 'to-user' } })
  expect(await stateOfPayout(service, id)).toBe('approved/0')
  expect(await send(service, '/cancel', { ids: [id], why: 'a test' })).toMatchObject({ status: 200 })
  expect(await balance(service)).toBe(995_000_000)
})

it('what was mined for a payout before its recipient was issued is handed in all the same', async () => {
  const service = await startPaying()
  const { id } = await ask(service, { to: secondAddress })
  const to = addressFrom(secondAddress)
  const signed = await sign(service, { to })
  await mineFinal(service, mined(signed, { logs: [paidLog(5_000_000n, to)] }))
  await service.get('/tron/generate', 8)
  expect(await handIn(service, id, signed.transaction)).toMatchObject({ state: 'signed' })
  await tickLater(service)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
  expect(await balancesOf(service, 8)).toEqual({ 1: 0, 2: 0 })
})

it('without PAYOUTS what is signed is followed to its end all the same', async () => {
  const service = await startPaying()
  const { id, ...signed } = await signedPayout(service)
  const without = service.with({ PAYOUTS: undefined })
  await mineFinal(without, mined(signed))
  await tickLater(service)
  expect(await stateOfPayout(service, id)).toBe('paid/0')
})

it('what the payout address sends to an address of a user is a movement, never a deposit', async () => {
  const service = await startPaying()
  const own = await addressIn(await service.get('/tron/generate'))
  await mineFinal(service, { kind: 'token', contract: usdtAddress, from: payoutAddress, to: own, amount: 5_000_000n })
  expect(await statesOf(service)).toEqual(['moved'])
  expect(await balancesOf(service)).toEqual({ 1: 1_000, 2: 1_000 })
})
