import { expect, it } from 'vitest'
import type { RunningService } from '../http/service.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import {
  ask,
  handIn,
  mined,
  mineFinal,
  paidLog,
  recipientBase58,
  type Shown,
  send,
  shown,
  sign,
  startPaying,
} from './harness.ts'

/** The newest event of a payout, as backends read it. */
async function newest(service: RunningService) {
  const response = await service.ledger('/ledger/events?limit=100')
  const { data } = await response.json<{ data: { list: { type: string; uid: number; data: object }[] } }>()
  return data.list.findLast(({ type }) => type.startsWith('payout.'))
}

it('the data of each event is the payout as it is after that step', async () => {
  const service = await startPaying()
  /**
   * Expects that the newest event of payouts has this type, and shows the payout as the list shows
   * it now.
   */
  const expectEvent = async (type: string, id: number, changes: object) => {
    const payout = await shown(service, id)
    expect(payout).toMatchObject({ id, state: type, ...changes })
    expect(await newest(service)).toMatchObject({ type: `payout.${type}`, uid: 7 })
    // nodes answer later, and their answers make no event; why one waits is looked up for lists
    type Looked = { readonly answers?: unknown; readonly waits_for?: unknown }
    const { answers: _, waits_for: __, ...others } = payout as Shown & Looked
    expect((await newest(service))?.data).toEqual(others)
  }
  const asked = { uid: 7, cuy: 2, amt: 101, fee: 0.5, to: recipientBase58, osn: 'large', mark: 'a mark' }
  const { id } = await ask(service, { ...asked, amt: '101', fee: '0.5' })
  await expectEvent('waiting', id, { ...asked, attempts: 0 })
  await send(service, '/approve', { ids: [id] }, 'office')
  await expectEvent('approved', id, { approved_by: 'office' })
  const signed = await sign(service, { amount: 101_000_000n })
  await handIn(service, id, signed.transaction)
  await expectEvent('signed', id, { txid: signed.txid, expires_at: expect.any(String) })
  const height = await mineFinal(service, mined(signed, { logs: [paidLog(101_000_000n)] }))
  await expectEvent('paid', id, { txid: signed.txid, height })

  const { id: second } = await ask(service)
  await expectEvent('approved', second, { approved_by: 'limits' })
  const other = await sign(service)
  await handIn(service, second, other.transaction)
  const moved = [{ to: payoutBase58, cuy: 2, amt: 2 }]
  await mineFinal(service, mined(other, { logs: [paidLog(2_000_000n, payoutAddress)] }))
  await expectEvent('stuck', second, { reason: 'other', txid: other.txid, attempts: 1, moved })
  await send(service, '/cancel', { ids: [second], why: 'it has paid less', moved: true }, 'office')
  await expectEvent('cancelled', second, { why: 'it has paid less' })
})
