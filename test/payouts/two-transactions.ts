import { expect } from 'vitest'
import type { ScannerCalls } from '../../src/worker/chain/chain.ts'
import { finalityLag, type RunningService, type Surroundings } from '../http/service.ts'
import { correct, disagreeOn, headOf, openGaps, repairNodes, tickFor, tickLater } from '../scan/harness.ts'
import type { SignedPayout } from '../support/payouts.ts'
import { expiringAfter, handIn, mined, offered, passBlocks, send, sign, startPaying, stateOfPayout } from './harness.ts'

// Payouts with a second transaction, beside which the first one may have paid after all.

/** A payout with two transactions: the first one has ended, and the second one is signed. */
export interface TwoSigned {
  readonly service: RunningService
  /** Height from before both transactions. */
  readonly height: number
  readonly id: number
  readonly first: SignedPayout
  readonly second: SignedPayout
  /** The right chain, from before the block that has ended the first transaction. */
  readonly right: RunningService['chain']
}

/**
 * Signs a second transaction of a payout, which expires about an hour later than the newest final
 * block.
 */
export async function signSecond(service: RunningService, id: number): Promise<SignedPayout> {
  const second = await sign(service, { expiration: BigInt((await headOf(service)).timestamp + 3_500_000) })
  expect(await handIn(service, id, second.transaction)).toMatchObject({ state: 'signed' })
  return second
}

/** A payout whose first transaction has expired after `blocks` and whose second one is signed. */
export async function startTwoSigned(blocks = 10, surroundings: Surroundings = {}): Promise<TwoSigned> {
  const service = await startPaying({}, surroundings)
  const { height } = await headOf(service)
  const { id, ...first } = await expiringAfter(service, blocks)
  const right = service.chain.fork(service.chain.tip().height - finalityLag + 1)
  await passBlocks(service, blocks + 2)
  return { service, height, id, first, second: await signSecond(service, id), right }
}

/** Makes all nodes show the right chain. */
export function showRight(service: RunningService, right: RunningService['chain']): void {
  for (const node of service.nodes) node.chain = right
}

/**
 * Lowers the finalized height to before both transactions, and makes all nodes show the right
 * chain.
 */
export async function correctBoth({
  service,
  height,
  right,
}: Pick<TwoSigned, 'service' | 'height' | 'right'>): Promise<void> {
  await correct(service, height)
  showRight(service, right)
}

/** How often nodes were sent this transaction. */
export const sendingsOf = ({ nodes }: RunningService, transaction: string): number =>
  nodes.flatMap(({ broadcasts }) => broadcasts.filter((one) => one === transaction)).length

/** Has everything sent that is to be sent now, without a tick. */
export async function sendNow(service: RunningService): Promise<void> {
  const scanners = service.bindings.SCANNER as { getByName(name: string): ScannerCalls } // safe: as `startService` has bound it
  await scanners.getByName('scanner').sendPayouts()
  await service.settled()
}

/** Lets an operator say that a transaction was looked at, so that payouts go on. */
export async function excuse({ db }: RunningService, txid: string): Promise<void> {
  await db
    .prepare(`UPDATE payout_transaction SET version = version + 1, excused = 'looked at' WHERE txid = ?`)
    .bind(txid)
    .run()
}

/** Lets an operator close all gaps at `at`, in Unix milliseconds. */
export async function closeGaps({ db }: RunningService, at = 1): Promise<void> {
  await db.prepare(`UPDATE rescan SET finished_at = ?, closed = 'nobody gives it' WHERE kind = 'gap'`).bind(at).run()
}

/**
 * The first transaction has paid in a block on which nodes disagree: the gap is open, or an
 * operator has closed it. Expects that the payout is not paid again while the block is unread, and
 * that it stops payouts, and cannot be cancelled, once the block is read.
 */
export async function expectPaidOnce(two: TwoSigned, gap: 'open' | 'closed'): Promise<void> {
  const { service, id, first, second, right } = two
  const before = sendingsOf(service, second.transaction)
  const at = right.add([mined(first)]).height
  right.addEmpty(40)
  await correctBoth(two)
  disagreeOn(service, at)
  await tickLater(service, 60)
  expect(await openGaps(service)).toHaveLength(1)
  if (gap === 'closed') await closeGaps(service)
  right.addEmpty(1_200) // past the expiration of the second one
  await tickFor(service, 7_200, () => {}, 600)
  expect(await stateOfPayout(service, id)).toBe('signed/1')
  expect(sendingsOf(service, second.transaction)).toBe(before)
  repairNodes(service)
  await tickFor(service, 14_400, () => {}, 1_200)
  expect(await offered(service)).toBe('payouts-stopped')
  expect(await send(service, '/cancel', { ids: [id], why: 'a test' })).toMatchObject({ status: 409 })
}
