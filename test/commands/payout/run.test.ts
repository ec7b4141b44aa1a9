import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseTransaction } from '../../devnet/transaction.ts'
import { payoutAddress, quietNodes, startSigner, type TestSigner } from './harness.ts'
import { recipient } from './scripted-service.ts'

const minuteMs = 60_000
let test: TestSigner
beforeEach(async () => {
  test = await startSigner()
})
afterEach(() => test.stop())

const said = (part: string) => test.lines.filter((line) => line.includes(part))

describe('a running signer', () => {
  it('signs what is within its limits, has it in the journal first, and hands it in', async () => {
    const payout = test.script.ask({ to: recipient, amt: '2.5' })
    let inJournal = ''
    test.script.onRequest = async (path, isDone) => {
      if (path.endsWith('/signed') && !isDone) inJournal = readFileSync(test.path, 'utf8')
      return undefined
    }
    await test.rounds(1)
    const [entry] = test.signer.journal.entries
    expect(payout).toMatchObject({ state: 'signed', txid: entry?.txid })
    expect(inJournal).toContain(entry?.transaction ?? 'missing')
    expect(test.lines).toEqual([`signed: 2.5 TRX to ${recipient} (uid 1, payout-1) txid ${entry?.txid}: signed`])
    const { raw } = parseTransaction(Buffer.from(entry?.transaction ?? '', 'hex'))
    expect(raw).toMatchObject({ type: 'TransferContract', amount: 2_500_000n })
  })

  it('hands in at most 20 at a time, and signs each payout once', async () => {
    for (let i = 0; i < 45; i += 1) test.script.ask({ to: recipient })
    await test.rounds(3)
    expect(test.script.batches).toEqual([20, 20, 5])
    expect(new Set(test.script.received.map(({ txid }) => txid)).size).toBe(45)
    expect(test.script.payouts.every(({ state }) => state === 'signed')).toBe(true)
  })

  it('hands in again what was lost on the way to the service, or on its way back', async () => {
    test.script.ask({ to: recipient })
    for (const isLate of [false, true]) {
      test.script.onRequest = async (path, isDone) =>
        path.endsWith('/signed') && isDone === isLate ? { status: 502, body: 'bad gateway' } : undefined
      await test.rounds(1)
    }
    test.script.onRequest = async () => undefined
    await test.rounds(1)
    expect(test.signer.journal.entries).toHaveLength(1)
    expect(new Set(test.script.received.map(({ txid }) => txid)).size).toBe(1)
    expect(test.script.payouts[0]?.state).toBe('signed')
    expect(said('No payouts are signed now: 502')).toHaveLength(2)
  })

  it('leaves what is above its own limits, whatever the service says, and counts the day across restarts', async () => {
    const large = test.script.ask({ to: recipient, amt: '100.000001' })
    for (let i = 0; i < 11; i += 1) test.script.ask({ to: recipient, amt: '100' })
    await test.rounds(1)
    test.restart()
    await test.rounds(2)
    expect(large.state).toBe('approved')
    expect(test.script.payouts.filter(({ state }) => state === 'signed')).toHaveLength(10)
    expect(said('more than this signer signs of one payout, 100 TRX')).toHaveLength(2) // once in each of the two runs
    expect(said('more than this signer signs in 24 hours: 1000 TRX of 1000 TRX')).toHaveLength(2)
    test.clock.ms += 24 * 60 * minuteMs
    await test.rounds(1)
    expect(test.script.payouts.filter(({ state }) => state === 'signed')).toHaveLength(11)
  })

  it('signs what comes after more than one list of payouts that it leaves, and says of these once', async () => {
    for (let i = 0; i < 150; i += 1) test.script.ask({ to: recipient, cuy: 3 })
    const good = test.script.ask({ to: recipient, amt: '7' })
    await test.rounds(2)
    expect(good.state).toBe('signed')
    await test.rounds(4)
    expect(said('has no cuy 3')).toHaveLength(300) // once for each payout in each of the two runs
  })

  it('says once what it leaves, and goes on with the rest', async () => {
    test.script.ask({ to: recipient, cuy: 3 })
    test.script.ask({ to: recipient, cuy: 2, amt: '0.0000001' })
    const good = test.script.ask({ to: recipient, cuy: 2, amt: '7' })
    await test.rounds(3)
    expect(test.lines).toHaveLength(3)
    expect(said('has no cuy 3')).toHaveLength(1)
    expect(said('0.0000001 is not an amount of USDT')).toHaveLength(1)
    const { raw } = parseTransaction(Buffer.from(test.signer.journal.entries[0]?.transaction ?? '', 'hex'))
    expect(good.state).toBe('signed')
    expect(raw).toMatchObject({ type: 'TriggerSmartContract', json: { fee_limit: 100_000_000 } })
    expect(BigInt(`0x${raw.code.slice(-64)}`)).toBe(700_000_000n) // with the token's eight decimals
  })

  it('signs nothing for a service that pays from another address, or shows a head that is not one', async () => {
    test.script.ask({ to: recipient })
    const { head } = test.script
    test.script.address = recipient
    await test.rounds(1)
    test.script.address = payoutAddress
    const early = head()
    for (const wrong of [
      { ...early, hash: `${'0'.repeat(15)}1${early.hash.slice(16)}` },
      { ...early, created_at: new Date(test.clock.ms + minuteMs).toISOString() },
      { ...early, created_at: new Date(test.clock.ms - 11 * minuteMs).toISOString() },
    ]) {
      test.script.head = () => wrong
      await test.rounds(1)
    }
    expect(test.signer.journal.entries).toEqual([])
    expect(said('Nothing is signed')).toHaveLength(4)
    test.script.head = head
    await test.rounds(1)
    test.script.ask({ to: recipient })
    test.script.head = () => ({ ...early, hash: `${early.hash.slice(0, 63)}b` })
    await test.rounds(1)
    expect(said('an older copy of the service, or a fork')).toHaveLength(1)
    expect(test.signer.journal.entries).toHaveLength(1)
  })
})

describe('a second transaction of a payout', () => {
  /** A payout whose first transaction has ended, as the service says. */
  async function ended() {
    const payout = test.script.ask({ to: recipient })
    await test.rounds(1)
    Object.assign(payout, { state: 'approved', attempts: 1, txid: undefined })
    return payout
  }

  it('is not signed while the first one can be mined, though the service says that it has ended', async () => {
    await ended()
    await test.rounds(3)
    expect(said('it can be mined until')).toHaveLength(1)
    // the transaction expired less than ten minutes ago: the clock of the signer could be wrong by
    // as much
    test.clock.ms += 20 * minuteMs
    await test.rounds(9)
    expect(said('it has expired: signed again from')).toHaveLength(1)
    expect(said('it can be mined until')).toHaveLength(1)
    expect(test.signer.journal.entries).toHaveLength(1)
  })

  it('is signed within 15 s of the approval if the first one has failed in a final block, by nodes of the signer', async () => {
    const mined = new Map<string, boolean>()
    await test.stop()
    test = await startSigner(undefined, (clock) => quietNodes(clock, mined))
    const payout = await ended()
    const [first] = test.signer.journal.entries
    mined.set(first?.txid ?? '', false)
    const approvedAt = test.clock.ms
    await test.rounds(4)
    expect(test.signer.journal.entries.map(({ attempts }) => attempts)).toEqual([0, 1])
    expect(payout.state).toBe('signed')
    expect((test.signer.journal.entries[1]?.at ?? 0) - approvedAt).toBeLessThanOrEqual(15_000)
    expect(first?.expiration).toBeGreaterThan(test.clock.ms)
  })

  it('is not signed before the first one has expired or was seen to fail, though a person has named it', async () => {
    await ended()
    const [first] = test.signer.journal.entries
    test.restart({ again: new Set([first?.txid ?? '']) })
    await test.rounds(3)
    expect(test.signer.journal.entries).toHaveLength(1)
    test.clock.ms += 30 * minuteMs
    await test.rounds(1)
    expect(test.signer.journal.entries).toHaveLength(2)
  })

  it("is signed after it, once the signer's own nodes know that the first one is in no block", async () => {
    const payout = await ended()
    test.clock.ms += 30 * minuteMs
    await test.rounds(3)
    expect(said('the nodes are asked')).toHaveLength(1)
    expect(test.signer.journal.entries.map(({ attempts }) => attempts)).toEqual([0, 1])
    expect(payout.state).toBe('signed')
  })

  it('is not signed if the first one has paid, by nodes: a stolen service cannot have it paid twice', async () => {
    const mined = new Map<string, boolean>()
    await test.stop()
    test = await startSigner(undefined, (clock) => quietNodes(clock, mined))
    const payout = await ended()
    const first = test.signer.journal.entries[0]?.txid ?? ''
    mined.set(first, true)
    test.clock.ms += 30 * minuteMs
    await test.rounds(3)
    expect(said('it is in block 900, and succeeded there')).toHaveLength(1)
    test.restart()
    mined.set(first, false) // it failed in its block, so it paid nothing
    await test.rounds(3)
    expect(test.signer.journal.entries).toHaveLength(2)
    expect(payout.state).toBe('signed')
  })

  it('is not signed for another recipient or amount under the same key', async () => {
    const payout = await ended()
    test.clock.ms += 30 * minuteMs
    payout.to = payoutAddress
    await test.rounds(3)
    expect(said('find out who has changed it')).toHaveLength(1)
    expect(test.signer.journal.entries).toHaveLength(1)
  })

  it('is not signed while the service shows the same attempts: the first one is handed in again', async () => {
    const payout = await ended()
    payout.attempts = 0
    test.clock.ms += 30 * minuteMs
    test.script.refusals.set(payout.id, { code: 422, reason: 'expired', why: 'it has expired' })
    await test.rounds(40) // 80 seconds: a round takes two
    expect(test.signer.journal.entries).toHaveLength(1)
    // handed in when it was signed, by the comparison at the start, and a minute later
    expect(test.script.received).toHaveLength(3)
    expect(said('handed in again, REFUSED')).toHaveLength(2)
  })
})

describe('a service that was restored to an older copy', () => {
  it('gets the same bytes again, also while it offers nothing, and what it does not know is named', async () => {
    const known = test.script.ask({ to: recipient, osn: 'known' })
    const lost = test.script.ask({ to: recipient, osn: 'lost' })
    await test.rounds(1)
    const [first, second] = test.signer.journal.entries
    // The restored database is older than both transactions, and does not have the second payout.
    test.script.payouts = [{ ...known, state: 'approved', txid: undefined }]
    test.script.stopped = 'payouts are stopped for an hour'
    await test.rounds(2)
    expect(test.script.received.slice(2)).toEqual([{ id: known.id, txid: first?.txid }])
    expect(said('LOOK AT')).toEqual([
      `LOOK AT: 1 TRX to ${recipient} (uid 1, lost) txid ${second?.txid}: the service does not know it: ` +
        'the backend must ask for it again, with the same key',
    ])
    // The backend asks for the lost payout once more, with the same `osn`. The new payout has
    // another id.
    test.script.stopped = null
    test.script.ask({ to: recipient, osn: 'other' })
    const again = test.script.ask({ to: recipient, osn: 'lost' })
    await test.rounds(1)
    expect(again).toMatchObject({ state: 'signed', txid: second?.txid })
    expect(lost.id).not.toBe(again.id)
    expect(test.signer.journal.entries).toHaveLength(3)
  })

  it('gets them although another transaction has expired there since: only if payouts are stopped, else its word counts', async () => {
    const payout = test.script.ask({ to: recipient })
    await test.rounds(1)
    const txid = test.signer.journal.entries[0]?.txid
    // The first transaction was mined, but the restored database lacks it. Since the restore, a
    // second signer's transaction was handed in, and has expired.
    Object.assign(payout, { state: 'approved', txid: undefined, attempts: 1 })
    await test.rounds(2)
    expect(test.script.received).toHaveLength(1)
    test.script.stopped = 'a transaction of the payout address is final that no payout names'
    await test.rounds(2)
    expect(test.script.received.slice(1)).toEqual([{ id: payout.id, txid }])
    expect(payout).toMatchObject({ state: 'signed', txid })
  })

  it('never gets bytes for a payout that took over the id of another one', async () => {
    test.script.ask({ to: recipient, osn: 'before' })
    await test.rounds(1)
    test.script.payouts = []
    const other = test.script.ask({ to: recipient, osn: 'after' })
    await test.rounds(1)
    expect(other.id).toBe(1)
    expect(other.txid).toBe(test.signer.journal.entries[1]?.txid)
    expect(said('(uid 1, before)').at(-1)).toContain('does not know it')
  })
})

describe('a journal that was lost', () => {
  it('signs nothing that was asked for before the new one until all that the lost one signed has expired', async () => {
    const old = test.script.ask({ to: recipient })
    test.restart({ path: 'another', isNew: true })
    test.clock.ms += minuteMs
    const young = test.script.ask({ to: recipient })
    await test.rounds(1)
    expect([old.state, young.state]).toEqual(['approved', 'signed'])
    expect(said('asked for before the journal was begun')).toHaveLength(1)
    test.clock.ms += 60 * minuteMs
    await test.rounds(1)
    expect(old.state).toBe('signed')
  })
})

describe('two signers with journals of their own', () => {
  it('both need a person to pay what has left already, also the one whose journal has nothing of it', async () => {
    const payout = test.script.ask({ to: recipient, attempts: 1, moved: [{ to: recipient, cuy: 1, amt: '0.999999' }] })
    await test.rounds(2)
    expect(test.signer.journal.entries).toEqual([])
    expect(said('has left for it already')).toHaveLength(1)
    test.restart({ again: new Set([`1 1 ${payout.osn}`]) })
    await test.rounds(1)
    expect(payout.state).toBe('signed')
  })

  it('never make the same transaction for two payouts, though these are alike and signed in the same millisecond', async () => {
    const payouts = Array.from({ length: 10 }, () => test.script.ask({ to: recipient }))
    const other = await startSigner()
    try {
      other.clock.ms = test.clock.ms
      other.script.payouts = payouts.map((one) => ({ ...one })).reverse()
      await Promise.all([test.rounds(1), other.rounds(1)])
      const entries = [test, other].flatMap(({ signer }) => signer.journal.entries)
      expect(entries).toHaveLength(20)
      expect(new Set(entries.map(({ at }) => at)).size).toBe(10) // both signers signed at the same times
      const payoutsOf = Map.groupBy(entries, ({ txid }) => txid)
      for (const [, same] of payoutsOf) expect(new Set(same.map(({ osn }) => osn)).size).toBe(1)
    } finally {
      await other.stop()
    }
  })
})
