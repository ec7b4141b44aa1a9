import { expect, it } from 'vitest'
import {
  blockMs,
  fund,
  handIn,
  mined,
  mineFinal,
  passBlocks,
  payoutsSetting,
  send,
  sign,
  signedPayout,
  stateOfPayout,
} from '../payouts/harness.ts'
import { headOf, repairNodes, rescan } from '../scan/harness.ts'
import { changing } from '../support/scripted-node.ts'
import { type Act, startContest } from './contest.ts'

// A transaction turns out to have paid after its payout had gone on, while somebody acts on the
// payout.

const timeout = 900_000

/**
 * An approved payout with two transactions: of the first one all nodes have shown no log, and the
 * second one has expired. The next tick reads the block of the first one again, in which it has
 * paid. `third` is signed and not handed in.
 */
async function prepare() {
  const contest = await startContest({ PAYOUTS: payoutsSetting })
  const { service } = contest
  const { chain, clock, nodes } = service
  clock.seconds = chain.tip().timeMs / 1000 + 3
  await service.get('/tron/generate', 7)
  await service.tick()
  await fund(service)
  const { id, ...first } = await signedPayout(service)
  for (const node of nodes) node.script = () => changing('eth_getLogs', () => [])
  const height = await mineFinal(service, mined(first))
  repairNodes(service)
  expect(await stateOfPayout(service, id)).toBe('stuck:other/1')
  await send(service, '/approve', { ids: [id] }, 'boss')
  const signFor = async (blocks: number) =>
    sign(service, { expiration: BigInt((await headOf(service)).timestamp + blocks * blockMs) })
  await handIn(service, id, (await signFor(4)).transaction)
  await passBlocks(service, 6)
  expect(await stateOfPayout(service, id)).toBe('approved/2')
  const third = await signFor(200)
  await rescan(service, height, height)
  clock.seconds += 60
  return { contest, id, third }
}
type Prepared = Awaited<ReturnType<typeof prepare>>

const tick: Act = (service) => service.tick()
const cancel =
  ({ id }: Prepared): Act =>
  (service) =>
    send(service, '/cancel', { ids: [id], why: 'changed' })
const give =
  ({ id, third }: Prepared): Act =>
  (service) =>
    send(service, '/signed', { signed: [{ id, transaction: third.transaction }] }, 'signer')
/** A tick that finds the late payment, and an operator who excuses it at once. */
const tickAndExcuse: Act = async (service) => {
  await service.tick()
  await service.db
    .prepare(`UPDATE payout_transaction SET version = version + 1, excused = 'looked at' WHERE ended = 'late'`)
    .run()
}

it('what is found to be paid late is in the limit of the day', { timeout }, async () => {
  const prepared = await prepare()
  const { contest } = prepared
  contest.begin()
  expect(await contest.alone(cancel(prepared))).toBe(200)
  const counted = (query: (sql: string) => readonly unknown[]) =>
    query(`SELECT 'not counted: ' || count(*) FROM payout_transaction WHERE ended = 'late'
      HAVING count(*) <> 1 OR (SELECT total(amount) FROM payout_hour WHERE uid = 0 AND cuy = 2) <> 5000000`).map(String)
  const faults: string[] = []
  for (const [name, act, rival] of [
    ['a tick, and a cancellation', tick, cancel(prepared)],
    ['a cancellation, and a tick', cancel(prepared), tick],
    ['a cancellation, and a tick with an excuse', cancel(prepared), tickAndExcuse],
  ] as const) {
    const found = await contest.run(act, rival, counted)
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  }
  expect(faults).toEqual([])
})

it('bytes are handed in for it before, and are not sent, or not at all', { timeout }, async () => {
  const prepared = await prepare()
  const { contest } = prepared
  contest.begin()
  expect(await contest.alone(give(prepared))).toBe(200)
  const faults: string[] = []
  for (const [name, act, rival] of [
    ['a tick, and a hand-in', tick, give(prepared)],
    ['a hand-in, and a tick', give(prepared), tick],
  ] as const) {
    const found = await contest.run(act, rival, (query) =>
      query(`SELECT 'can be sent: ' || txid FROM payout_transaction WHERE ended IS NULL AND NOT held_back`).map(String),
    )
    faults.push(...found.map((fault) => `${name}: ${fault}`))
  }
  expect(faults).toEqual([])
})
