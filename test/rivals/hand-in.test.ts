import { expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { addressIn, finalityLag } from '../http/service.ts'
import { ask, contentOf, fund, handIn, mined, payoutsSetting, send } from '../payouts/harness.ts'
import { correct, headOf, tickLater } from '../scan/harness.ts'
import { signTransfer } from '../support/payouts.ts'
import { type Act, startContest } from './contest.ts'

// Something happens between two statements of a hand-in of bytes that a final block had before, or
// whose payee becomes a user.

const timeout = 900_000

const give =
  (id: number, transaction: string): Act =>
  (service) =>
    send(service, '/signed', { signed: [{ id, transaction }] }, 'signer')

async function startAsking() {
  const contest = await startContest({ PAYOUTS: payoutsSetting })
  const { service } = contest
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  await service.get('/tron/generate', 7)
  await service.tick()
  await fund(service)
  return { contest, service }
}

/**
 * Two payouts, and a transaction in a final block that no payout names. With `isCorrected` a
 * correction has taken that block back.
 */
async function prepareUnknown(isCorrected: boolean) {
  const { contest, service } = await startAsking()
  const { chain, clock } = service
  const { id } = await ask(service)
  const { id: other } = await ask(service)
  const head = await headOf(service)
  const signed = signTransfer(contentOf(head, {}))
  const fresh = signTransfer(contentOf(head, { timestamp: 99n }))
  const height = chain.add([mined(signed)]).height
  chain.addEmpty(finalityLag)
  await tickLater(service, 60)
  if (isCorrected) {
    await correct(service, height - 1)
    // The head is known again, and the blocks are not read yet.
    await service.db
      .prepare('UPDATE scan SET finalized = ?, finalized_hash = ?, finalized_time = ?')
      .bind(height - 1, 'ab'.repeat(32), head.timestamp + 57_000)
      .run()
  }
  chain.addEmpty(3)
  clock.seconds = chain.tip().timeMs / 1000 + 3
  return { contest, id, other, signed, fresh, height }
}

it('a tick that finds an unknown transaction again goes on while its bytes are handed in', { timeout }, async () => {
  const { contest, id, signed } = await prepareUnknown(true)
  contest.begin()
  expect(await contest.run((service) => service.tick(), give(id, signed.transaction))).toEqual([])
})

it.each([
  ['a final block has', false],
  ['a correction has taken back', true],
])('bytes that %s are taken once, whatever comes in between', { timeout }, async (_, isCorrected) => {
  const { contest, id, other, signed, fresh, height } = await prepareUnknown(isCorrected)
  contest.begin()
  expect(await contest.alone((service) => handIn(service, id, signed.transaction))).toBe(200)
  const rivals: Readonly<Record<string, Act>> = {
    'the same bytes for another payout': give(other, signed.transaction),
    'fresh bytes for the same payout': give(id, fresh.transaction),
    'a correction': (service) => correct(service, height - 4),
  }
  const faults: string[] = []
  for (const [name, rival] of Object.entries(rivals)) {
    const found = await contest.run(give(id, signed.transaction), rival)
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  }
  expect(faults).toEqual([])
})

it('no bytes are taken that pay an address which has become a user’s in between', { timeout }, async () => {
  const scout = await startContest({ PAYOUTS: payoutsSetting })
  scout.service.clock.seconds = scout.service.chain.tip().timeMs / 1000 + 3
  await scout.service.get('/tron/generate', 7)
  const next = await addressIn(await scout.service.get('/tron/generate', 8))
  const { contest, service } = await startAsking()
  const { id } = await ask(service, { to: formatBase58(next) })
  const signed = signTransfer(contentOf(await headOf(service), { to: next }))
  contest.begin()
  let isEarly = false
  const issue: Act = async (rival) => {
    isEarly = (await rival.db.prepare('SELECT 1 FROM payout_transaction').first()) === null
    await rival.get('/tron/generate', 8)
  }
  const found = await contest.run(give(id, signed.transaction), issue, (query) =>
    isEarly
      ? query(`SELECT 'taken for ' || payout_id FROM payout_transaction WHERE payout_id IS NOT NULL`).map(String)
      : [],
  )
  expect(found).toEqual([])
})
