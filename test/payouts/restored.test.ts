import { describe, expect, it } from 'vitest'
import { writable } from '../../src/worker/d1/database.ts'
import { withoutTriggers } from '../d1/fixtures.ts'
import { finalityLag, type RunningService, usdtTo } from '../http/service.ts'
import {
  alarmsOf,
  disagreeOn,
  finalizedIn,
  headOf,
  limitLogs,
  noise,
  openGaps,
  repairNodes,
  tickFor,
  tickLater,
  withoutReceiptOf,
} from '../scan/harness.ts'
import { payoutAddress, payoutBase58 } from '../support/payouts.ts'
import type { TransactionSpec } from '../support/transaction-spec.ts'
import {
  ask,
  balance,
  handIn,
  mined,
  mineFinal,
  offered,
  paidLog,
  passBlocks,
  payoutsSetting,
  recipient,
  recipientBase58,
  send,
  shown,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

/**
 * The newest event as the scanner's storage has it, and since when the scanner has known that the
 * database is an older copy.
 */
const memoryOf = ({ scannerHost }: RunningService) =>
  scannerHost.values.get('payouts') as { newest: { id: number; digest: string } | null; restoredAt: number | null }
const stoppedBy = async (service: RunningService) => {
  const { data } = await (await service.ledger('/ledger/summary')).json<{ data: { payouts: { stopped: unknown } } }>()
  return data.payouts.stopped
}
/** Makes the scanner remember an event that the database lacks, as after a restore. */
function knowMore(service: RunningService, id: number | null = 9_999): void {
  service.scannerHost.values.set('payouts', { newest: { id, digest: 'ab'.repeat(32) }, restoredAt: null })
}

const lastEventOf = ({ db }: RunningService) => db.prepare('SELECT max(id) AS id FROM event').first<number>('id')
/** The answer to a valid transaction while the database is an older copy. */
const refusedWhileStopped = { refused: { code: 409, reason: 'payouts-stopped' } }

/** A list that collects all transactions which the nodes receive from now on. */
function sentBy(service: RunningService): readonly string[] {
  const sent: string[] = []
  for (const node of service.nodes) {
    node.script = ({ calls }) => {
      for (const { method, params } of calls) {
        if (method === '/wallet/broadcasthex') sent.push((params[0] as { readonly transaction: string }).transaction)
      }
      return null
    }
  }
  return sent
}

describe('a database that was restored to an older copy', () => {
  it('offers nothing until a final block is read that is an hour later', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    knowMore(service)
    const since = service.clock.seconds
    expect(await offered(service)).toBe('payouts-stopped')
    await tickLater(service)
    expect(alarmsOf(service, 'payout-unknown')).toMatchObject([{ why: expect.stringContaining('an hour later') }])
    expect(await stoppedBy(service)).toMatchObject({ why: 'restored' })
    service.clock.seconds += 7_200 // the hour is counted by the times of blocks, not by the clock
    expect(await offered(service)).toBe('payouts-stopped')
    const missing = Math.ceil((since + 3_600 - (await headOf(service)).timestamp / 1000) / 3)
    await passBlocks(service, missing - 1)
    expect(await offered(service)).toBe('payouts-stopped')
    await passBlocks(service, 3)
    expect(await offered(service)).toEqual([id])
    await tickLater(service)
    expect(await stoppedBy(service)).toBeNull()
    expect(await stateOfPayout(service, id)).toBe('approved/0')
  })

  it.each<[string, (service: RunningService, txid: string) => void]>([
    ['that nodes do not agree on', (service) => disagreeOn(service, service.chain.tip().height + 1)],
    [
      'whose receipts cannot be read',
      (service, txid) => {
        limitLogs(service, 50)
        for (const node of service.nodes) node.script = () => withoutReceiptOf(txid)
      },
    ],
  ])(
    'offers nothing, cancels nothing and sends nothing as long as a block of that hour is one %s',
    async (_, trouble) => {
      const service = await startPaying()
      const { id } = await ask(service)
      const lost = await sign(service)
      knowMore(service)
      expect(await offered(service)).toBe('payouts-stopped')
      trouble(service, lost.txid)
      await mineFinal(service, noise(60), mined(lost))
      await passBlocks(service, 1_300)
      expect(await offered(service)).toBe('payouts-stopped')
      expect((await send(service, '/cancel', { ids: [id], why: 'a test' })).reason).toBe('payouts-stopped')
      const other = await sign(service, { timestamp: 2n })
      await handIn(service, id, other.transaction)
      expect(service.nodes.flatMap(({ broadcasts }) => broadcasts)).toEqual([])
      repairNodes(service)
      await tickFor(service, 7_200, () => {}, 600)
      expect(JSON.stringify(alarmsOf(service, 'payout-unknown'))).toContain(lost.txid)
      expect(await offered(service)).toBe('payouts-stopped')
    },
  )

  it('offers again once all blocks of that hour are read, although a later one is a gap', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    knowMore(service)
    expect(await offered(service)).toBe('payouts-stopped')
    const gapNext = () => {
      disagreeOn(service, service.chain.tip().height + 1)
      return mineFinal(service, usdtTo(recipient, 1n))
    }
    await gapNext()
    await passBlocks(service, 1_300)
    expect(await offered(service)).toBe('payouts-stopped')
    const later = await gapNext() // from now on the nodes agree on the block of the first gap
    await tickFor(service, 3_600, () => {}, 600)
    expect(await openGaps(service)).toMatchObject([{ from_height: later }])
    expect(await offered(service)).toEqual([id])
  })

  const elsewhere = { PAYOUTS: { ...payoutsSetting, address: 'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK' } }
  it.each<[string, Record<string, unknown>]>([
    ['another address is configured since', elsewhere],
    ['PAYOUTS was taken away for a while', { PAYOUTS: undefined }],
  ])('finds what it lacks although %s', async (_, variables) => {
    const service = await startPaying()
    const { id } = await ask(service)
    const lost = await sign(service)
    knowMore(service)
    const now = service.with(variables)
    await mineFinal(now, mined(lost))
    await passBlocks(now, 40)
    const last = variables === elsewhere ? now : service
    await passBlocks(last, 1_300)
    expect(await offered(last)).toBe('payouts-stopped')
    const known = { ids: [id], why: 'a test', moved: true }
    expect((await send(last, '/cancel', known, 'office')).reason).toBe('payouts-stopped')
    expect(JSON.stringify(alarmsOf(service, 'payout-unknown'))).toContain(lost.txid)
  })

  it('finds what it lacks although it is older than the setting of that address: the scanner remembers it', async () => {
    const service = await startPaying()
    const { id, ...lost } = await signedPayout(service)
    await withoutTriggers(writable(service.db), [
      'DELETE FROM payout_transaction',
      `UPDATE payout SET state = 'approved', txid = NULL, expires_at = NULL`,
      `DELETE FROM stored_event WHERE type GLOB 'payout.*'`,
      'DELETE FROM kept_address',
    ])
    const now = service.with(elsewhere)
    expect(await offered(now)).toBe('payouts-stopped')
    await mineFinal(now, mined(lost))
    await tickLater(now, 60)
    expect(JSON.stringify(alarmsOf(service, 'payout-unknown'))).toContain(lost.txid)
    const known = { ids: [id], why: 'a test', moved: true }
    expect((await send(now, '/cancel', known, 'office')).reason).toBe('payouts-stopped')
  })

  it('names all that has left in one alarm, and each payout shows what has left for it before anybody decides', async () => {
    const service = await startPaying({ PAYOUTS: { address: payoutBase58 } })
    const amounts = [3_000_000n, 4_000_000n, 5_000_000n, 6_000_000n]
    const payouts: { id: number; txid: string; spec: TransactionSpec; amt: string }[] = []
    for (const amount of amounts) {
      const amt = `${amount / 1_000_000n}`
      const { id } = await ask(service, { amt })
      const lost = await sign(service, { amount })
      payouts.push({ id, amt, txid: lost.txid, spec: mined(lost, { logs: [paidLog(amount)] }) })
    }
    const { id: unpaid } = await ask(service, { amt: '7' })
    knowMore(service)
    await mineFinal(service, ...payouts.map(({ spec }) => spec))
    await tickLater(service)
    await tickLater(service, 60)
    const [restored, listed, ...others] = alarmsOf(service, 'payout-unknown')
    expect([restored, others]).toMatchObject([{ why: expect.stringContaining('an older copy') }, []])
    expect(listed).toMatchObject({ transactions: 4, why: expect.stringContaining('no payout names') })
    for (const { txid } of payouts) expect(String(listed?.txids)).toContain(txid)
    expect(await stoppedBy(service)).toMatchObject({ txids: expect.arrayContaining(payouts.map(({ txid }) => txid)) })
    for (const { id, amt, txid } of payouts) {
      expect(await shown(service, id)).toMatchObject({
        state: 'waiting',
        moved: [{ to: recipientBase58, cuy: 2, amt: Number(amt) }],
        why: `another transaction of the payout address has moved ${amt} USDT to ${recipientBase58} in ${txid}: find out whether that was this payout`,
      })
    }
    const other = await shown(service, unpaid)
    expect([other.moved, other.why]).toEqual([undefined, undefined])
    await passBlocks(service, 1_300)
    await tickLater(service)
    expect(await stoppedBy(service)).toMatchObject({ why: 'unknown-transaction' })
    // the hour is over, and nobody is told the same once more for each
    expect(alarmsOf(service, 'payout-unknown')).toHaveLength(2)
  })

  it('cancels nothing in that hour: what the copy lacks can have paid it', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const { id: before } = await ask(service)
    const cancel = (...ids: number[]) => send(service, '/cancel', { ids, why: 'a test' })
    expect((await cancel(before)).status).toBe(200)
    const left = await balance(service)
    knowMore(service)
    expect(await cancel(id)).toMatchObject({ status: 409, reason: 'payouts-stopped' })
    expect([await stateOfPayout(service, id), await balance(service)]).toEqual(['approved/0', left])
    expect((await cancel(before)).status).toBe(200) // the payout was cancelled before the restore
    await passBlocks(service, 1_240)
    expect((await cancel(id)).status).toBe(200)
  })

  it('takes and sends nothing in that hour: another signer can hand in bytes beside those that the copy lacks', async () => {
    const service = await startPaying()
    const sent = sentBy(service)
    const { id } = await ask(service)
    const signed = await sign(service)
    knowMore(service)
    expect(await handIn(service, id, signed.transaction)).toMatchObject(refusedWhileStopped)
    for (let i = 0; i < 3; i += 1) await tickLater(service, 60)
    await passBlocks(service, 1_300)
    expect([await stateOfPayout(service, id), ...sent]).toEqual(['approved/0'])
    const { transaction } = await signedPayout(service, { timestamp: 2n })
    await tickLater(service)
    expect(new Set(sent)).toEqual(new Set([transaction]))
  })

  it('is noticed although the scan has found the transaction that it lacks, under the same number', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const [own, other] = [await sign(service), await sign(service, { timestamp: 2n })]
    knowMore(service, await lastEventOf(service))
    await mineFinal(service, mined(own))
    expect(await handIn(service, id, other.transaction)).toMatchObject(refusedWhileStopped)
    expect(memoryOf(service).restoredAt).not.toBeNull()
  })

  it('is noticed by a new instance of the scanner as well, and by one whose memory is lost', async () => {
    const service = await startPaying()
    await signedPayout(service)
    const { id } = await ask(service)
    expect(await offered(service)).toEqual([id])
    knowMore(service)
    expect(await offered(service.with({}))).toBe('payouts-stopped')
    service.scannerHost.values.clear()
    expect(await offered(service.with({}))).toBe('payouts-stopped')
  })

  it('is noticed if it has another event under the number since', async () => {
    const service = await startPaying()
    await signedPayout(service)
    await ask(service)
    expect(await offered(service)).toEqual([2])
    knowMore(service, await lastEventOf(service))
    expect(await offered(service)).toBe('payouts-stopped')
  })

  it('is none where nothing was ever signed, or where more was', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    service.scannerHost.values.clear()
    expect(await offered(service)).toEqual([id])
    await signedPayout(service)
    const earlier = memoryOf(service)
    await signedPayout(service, { timestamp: 1n })
    expect(memoryOf(service).newest).not.toEqual(earlier.newest)
    service.scannerHost.values.set('payouts', earlier)
    expect(await offered(service)).toEqual([id])
  })

  it('is none where the first transaction of all is one that no payout names', async () => {
    const service = await startPaying()
    service.scannerHost.values.delete('payouts')
    await mineFinal(service, { kind: 'trx', from: payoutAddress, to: recipient, amount: 1n })
    expect(alarmsOf(service, 'payout-unknown')).toMatchObject([{ txid: expect.anything() }])
  })

  it('is known although it is restored in the very moment after the sending: what is sent is noted before', async () => {
    const service = await startPaying()
    const noted: unknown[] = []
    for (const node of service.nodes) {
      node.script = ({ calls }) => {
        if (calls[0]?.method === '/wallet/broadcasthex') noted.push(memoryOf(service).newest?.id)
        return null
      }
    }
    await signedPayout(service)
    const id = await lastEventOf(service)
    expect(noted).toEqual([id, id, id])
  })

  it('pays nobody twice: bytes that the signer still has are found where they were mined', async () => {
    const service = await startPaying()
    const { id } = await ask(service)
    const signed = await sign(service)
    // In the copy the payout is only approved. Its transaction is in a block that the copy has not
    // read.
    knowMore(service)
    await mineFinal(service, mined(signed))
    expect(await offered(service)).toBe('payouts-stopped')
    expect(await handIn(service, id, signed.transaction)).toMatchObject({ state: 'signed' })
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await offered(service)).toBe('payouts-stopped') // other transactions may be missing, too
    service.chain.addEmpty(1_300)
    service.clock.seconds += 3_900
    while ((await headOf(service)).height < finalizedIn(service)) await tickLater(service)
    await tickLater(service)
    expect(await offered(service)).toEqual([])
    expect(service.chain.tip().height - finalizedIn(service)).toBe(finalityLag)
  })

  it('pays nobody twice where it lacks the payout itself, which is asked for again only after that hour', async () => {
    const service = await startPaying()
    const before = await balance(service)
    const signed = await sign(service) // its payout is missing in the copy
    knowMore(service)
    await mineFinal(service, mined(signed))
    service.chain.addEmpty(1_300)
    service.clock.seconds += 3_900
    while ((await headOf(service)).height < finalizedIn(service)) await tickLater(service)
    await tickLater(service)
    expect(memoryOf(service).restoredAt).toBeNull()
    const { id, state } = await ask(service)
    expect([state, await offered(service)]).toEqual(['approved', 'payouts-stopped'])
    const known = { ids: [id], why: 'a test', moved: true }
    expect((await send(service, '/cancel', known, 'office')).reason).toBe('payouts-stopped')
    expect(await handIn(service, id, signed.transaction)).toEqual({ id, state: 'signed', txid: signed.txid })
    await tickLater(service)
    expect(await stateOfPayout(service, id)).toBe('paid/0')
    expect(await offered(service)).toEqual([])
    expect(await balance(service)).toBe(before - 5_000_000)
    expect(service.nodes.flatMap(({ broadcasts }) => broadcasts)).toEqual([])
  })
})
