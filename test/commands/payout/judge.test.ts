import { describe, expect, it } from 'vitest'
import type { JournalEntry } from '../../../src/commands/payout/journal.ts'
import {
  findHeadFault,
  judge,
  type Known,
  leftMsMin,
  type Proof,
  sayWhenExpired,
} from '../../../src/commands/payout/judge.ts'
import { textOfKey } from '../../../src/commands/payout/payout.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { payoutAddress } from './harness.ts'
import { blockAt, recipient } from './scripted-service.ts'

const minuteMs = 60_000
const now = Date.parse('2026-11-25T12:00:00.000Z') as UnixMs
const instant = (ms: number) => new Date(ms).toISOString()

const shown = { id: 1, uid: 1, cuy: 1, osn: 'a', amt: '2', to: recipient, state: 'approved' }
const payoutOf = (attempts: number, changes: object = {}) => ({
  ...shown,
  attempts,
  created_at: instant(now),
  ...changes,
})
const signed = (attempts: number, expiration: number): JournalEntry => ({
  ...payoutOf(attempts),
  at: 1,
  txid: `${attempts}`.repeat(64),
  expiration,
  head: blockAt(now),
  transaction: '00',
})
const known = (changes: Partial<Known> = {}): Known => ({
  earlier: [],
  startedAt: (now - 7_200_000) as UnixMs,
  head: blockAt(now),
  now,
  proven: new Map(),
  again: new Set(),
  ...changes,
})

const proven = (proof: Proof, ...entries: readonly JournalEntry[]) => new Map(entries.map(({ txid }) => [txid, proof]))

describe('a payout that the service offers', () => {
  const old = signed(0, now - 20 * minuteMs)
  const [young, late] = [signed(0, now + minuteMs), signed(0, now - 10 * minuteMs)]
  const gone = { earlier: [old], proven: proven('absent', old) }
  const all = [old, signed(1, now - 15 * minuteMs)]
  it.each<[string, number, Partial<Known>, string]>([
    ['was never signed', 0, {}, 'sign'],
    ['was never signed here, and has ended elsewhere', 2, {}, 'sign'],
    ['was signed, and the service lacks it', 0, { earlier: [signed(0, now + minuteMs)] }, 'hand-in'],
    ['was signed, has expired, and the service lacks it', 0, { earlier: [old] }, 'hand-in'],
    ['was signed twice, and an older copy of the service shows it', 0, { earlier: all }, 'hand-in'],
    ['has ended before its expiration', 1, { earlier: [young] }, 'prove'],
    ['has failed before its expiration, by nodes', 1, { earlier: [young], proven: proven('failed', young) }, 'sign'],
    ['is in no block before its expiration', 1, { earlier: [young], proven: proven('absent', young) }, 'prove'],
    [
      'has ended before its expiration, as a person says',
      1,
      { earlier: [young], again: new Set([young.txid]) },
      'prove',
    ],
    ['expired less than the margin ago', 1, { earlier: [late], proven: proven('absent', late) }, 'prove'],
    ['expired by the clock, but not by the head', 1, { ...gone, head: blockAt(now - 20 * minuteMs) }, 'prove'],
    ['expired by the head, but not by the clock', 1, { ...gone, now: (now - 15 * minuteMs) as UnixMs }, 'prove'],
    ['expired by both', 1, { earlier: [old] }, 'prove'],
    ['expired, and is known to have paid nothing', 1, gone, 'sign'],
    ['expired, and has paid nothing, as a person says', 1, { earlier: [old], again: new Set([old.txid]) }, 'sign'],
    ['has two, of which one is known to have paid nothing', 2, { ...gone, earlier: all }, 'prove'],
    [
      'has two, of which a longer one has not failed',
      2,
      { earlier: [young, old], proven: proven('absent', young, old) },
      'prove',
    ],
  ])('that %s', (_, attempts, changes, kind) => {
    expect(judge(payoutOf(attempts), known(changes)).kind).toBe(kind)
  })

  it('is handed in by its newest transaction, and proven by all that are not known', () => {
    expect(judge(payoutOf(1), known({ earlier: all }))).toEqual({ kind: 'hand-in', entry: all[1] })
    expect(judge(payoutOf(2), known({ earlier: all }))).toEqual({ kind: 'prove', entries: all })
  })

  it.each([
    ['recipient', { to: payoutAddress }],
    ['amount', { amt: '3' }],
  ])('is left if it has another %s than the journal has signed for its key', (_, changes) => {
    for (const attempts of [0, 1]) {
      const verdict = judge(payoutOf(attempts, changes), known(gone))
      expect(verdict).toEqual({ kind: 'leave', why: expect.stringContaining('this key was signed for 2 to') })
    }
  })

  const moved = [{ to: recipient, cuy: 1, amt: '1.999999' }]
  it('for which money has left already is left to a person, whatever the journal has', () => {
    for (const earlier of [[], [old], all]) {
      const facts = known({ earlier, proven: proven('absent', ...earlier) })
      const verdict = judge(payoutOf(earlier.length, { moved }), facts)
      expect(verdict).toEqual({
        kind: 'leave',
        why: `1.999999 of cuy 1 to ${recipient} has left for it already: only if it is to be paid again, --again 1:1:a`,
      })
      expect(judge(payoutOf(earlier.length, { moved: [] }), facts).kind).toBe('sign')
    }
  })

  it('for which money has left already is signed where a person says so, by its key or its own transaction', () => {
    const again = new Set([textOfKey(shown)])
    expect(judge(payoutOf(1, { moved }), known({ again })).kind).toBe('sign')
    expect(judge(payoutOf(1, { moved }), known({ again: new Set(['1 1 b']) })).kind).toBe('leave')
    const named = new Set([old.txid])
    expect(judge(payoutOf(1, { moved }), known({ earlier: [old], again: named })).kind).toBe('sign')
    // the earlier transaction could pay the payout, too
    expect(judge(payoutOf(1, { moved }), known({ earlier: [old], again })).kind).toBe('prove')
  })

  it.each([{ units: '5' }, 'something', [{}], [null], 1])('with a moved of another form, %j, is left', (moved) => {
    expect(judge(payoutOf(1, { moved }), known())).toEqual({ kind: 'leave', why: expect.stringContaining('--again') })
  })

  it('is handed in again although money has left: that signs nothing', () => {
    expect(judge(payoutOf(0, { moved }), known({ earlier: [old] })).kind).toBe('hand-in')
  })

  it('waits an hour if it was asked for before the journal was begun', () => {
    const startedAt = (now - 59 * minuteMs) as UnixMs
    const before = payoutOf(0, { created_at: instant(startedAt) })
    expect(judge(before, known({ startedAt })).kind).toBe('leave')
    expect(judge(before, known({ startedAt, now: (now + 2 * minuteMs) as UnixMs })).kind).toBe('sign')
    expect(judge(payoutOf(0), known({ startedAt })).kind).toBe('sign')
  })
})

it('what has expired is never said to be mineable, and says from when on it is signed again', () => {
  const entry = signed(0, now)
  const say = (minutes: number) => sayWhenExpired(entry, { now: (now + minutes * minuteMs) as UnixMs })
  expect(say(-1)).toBe('it can be mined until 2026-11-25T12:00:00.000Z: signed again from 2026-11-25T12:10:00.000Z on')
  expect(say(1)).toBe('it has expired: signed again from 2026-11-25T12:10:00.000Z on')
  expect(say(11)).toBe('it has expired: signed again once the newest final block is of after 2026-11-25T12:01:00.000Z')
})

describe('the newest final block of the service', () => {
  const block = blockAt(now - 57_000)
  const minutes = 15
  it.each<[string, object, ReturnType<typeof blockAt> | null, string | null]>([
    ['is right', {}, null, null],
    ['is after the one before', {}, blockAt(now - 60_000), null],
    ['is the one before', {}, block, null],
    ['has a hash of another height', { height: block.height + 1 }, null, 'not that of a block'],
    ['is ahead of the clock', { created_at: instant(now + 31_000) }, null, 'set the clock right'],
    ['leaves the least time', { created_at: instant(now - minutes * minuteMs + leftMsMin) }, null, null],
    ['leaves less', { created_at: instant(now - minutes * minuteMs + leftMsMin - 1) }, null, 'the clock is wrong'],
    ['is before one that was used', {}, blockAt(now - 30_000), 'it is not after block'],
    ['is another one of the same time', {}, { ...block, hash: block.hash.replace(/.$/, 'f') }, 'it is not after block'],
  ])('%s', (_, changes, newest, why) => {
    const fault = findHeadFault({ ...block, ...changes }, newest, now, minutes)
    expect(fault).toEqual(why === null ? null : expect.stringContaining(why))
  })
})
