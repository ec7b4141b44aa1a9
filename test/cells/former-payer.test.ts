import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { expect, it } from 'vitest'
import { addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'
import { encodeTransfer } from '../../src/worker/chain/transaction.ts'
import { finalityLag, type RunningService, usdtTo } from '../http/service.ts'
import { contentOf, hold, mined, payoutRequest, payoutsSetting, type Shown } from '../payouts/harness.ts'
import { correct, disagreeOn, headOf, openGaps, repairNodes } from '../scan/harness.ts'
import { payoutBase58, signBytes, signTransfer } from '../support/payouts.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { addressesOf, startThreeCells, threeCells, tickAll, users } from './three-cells.ts'

// An address that paid the payouts of a cell, then those of another one, and pays none by now.

const [first, second, third] = threeCells
const otherKey = new Uint8Array(32).fill(7)
const otherAddress = addressFromHex(
  bytesToHex(keccak_256(secp256k1.getPublicKey(otherKey, false).subarray(1)).subarray(12)),
)
if (otherAddress === null) throw new Error('20 bytes are an address')
const otherBase58 = formatBase58(otherAddress)
const unusedBase58 = formatBase58(addressOf(91))
const paying = (one: string, two: string) => ({
  CELLS: [
    { ...first, payouts: { ...payoutsSetting, address: one } },
    { ...second, payouts: { ...payoutsSetting, address: two } },
    third,
  ],
})

const tickLater = async (service: RunningService, seconds: number) => {
  service.clock.seconds += seconds
  await tickAll(service)
}
async function post(service: RunningService, path: string, body: unknown, by?: string) {
  const response = await service.send(`/ledger/payouts${path}cell=1`, body, by)
  const answer = await response.json<{ data?: { list: (Shown & { refused?: object })[] } }>()
  await service.settled()
  return { status: response.status, list: answer.data?.list ?? [] }
}
const handIn = async (service: RunningService, id: number, transaction: string) =>
  (await post(service, '/signed?', { signed: [{ id, transaction }] }, 'signer')).list[0]
const sendingsOf = ({ nodes }: RunningService, transaction: string) =>
  nodes.flatMap(({ broadcasts }) => broadcasts.filter((one) => one === transaction)).length

it('what it has paid for the first cell after all is known to that cell, and not paid again', async () => {
  const service = (await startThreeCells()).with(paying(payoutBase58, unusedBase58))
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  hold(service, 10n ** 15n, 10n ** 15n)
  await addressesOf(service)
  await tickAll(service)
  const fund = await service.send('/ledger/entries?cell=1', {
    entries: [{ uid: users[0], cuy: 2, type: 9, osn: 'fund', amt: '1000' }],
  })
  expect(fund.status).toBe(200)
  const asked = await post(service, '?', { payouts: [payoutRequest()] })
  const id = asked.list[0]?.id ?? 0
  const head = await headOf(service)
  const one = signTransfer(contentOf(head, { expiration: BigInt(head.timestamp + 30_000) }))
  expect(await handIn(service, id, one.transaction)).toMatchObject({ state: 'signed' })
  const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
  service.chain.addEmpty(12)
  await tickLater(service, 60)
  const swapped = service.with(paying(otherBase58, payoutBase58))
  await tickLater(swapped, 60)
  const now = service.with(paying(otherBase58, unusedBase58))
  await tickLater(now, 60)
  const later = await headOf(now)
  const content = contentOf(later, { expiration: BigInt(later.timestamp + 3_500_000) })
  const two = signBytes(encodeTransfer({ ...content, from: otherAddress }), otherKey)
  expect(await handIn(now, id, two.transaction)).toMatchObject({ state: 'signed' })
  const before = sendingsOf(now, two.transaction)
  const at = right.add([usdtTo(addressOf(80), 1n), mined(one)]).height
  right.addEmpty(60)
  await correct(now, head.height)
  for (const node of now.nodes) node.chain = right
  disagreeOn(now, at)
  await tickLater(now, 60)
  await tickLater(now, 60)
  expect(await openGaps(now)).toHaveLength(1)
  repairNodes(now)
  await tickLater(now, 3_600)
  await tickLater(now, 60)
  expect(await openGaps(now)).toEqual([])
  expect(sendingsOf(now, two.transaction)).toBe(before)
  const response = await now.ledger('/ledger/payouts/unsigned?cell=1')
  expect(response.headers.get('x-reason')).toBe('payouts-stopped')
})
