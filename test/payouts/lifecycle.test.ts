import { describe, expect, it } from 'vitest'
import type { BackendName, PayoutId, PayoutTransactionId } from '../../src/worker/common/ids.ts'
import { type PayoutState, payoutStates } from '../../src/worker/common/payout-states.ts'
import { type TransactionEnd, transactionEnds } from '../../src/worker/d1/payout-tables.ts'
import type { PayoutLimit } from '../../src/worker/ledger/context.ts'
import { type NodeAnswer, noteAnswer, sayAnswers } from '../../src/worker/payouts/answers.ts'
import {
  approve,
  cancel,
  conclude,
  expire,
  isWithinLimits,
  nothingUsed,
  type PayoutEvent,
  type PayoutRow,
  payoutSteps,
  sign,
  type TransactionRow,
  type TransactionState,
  transactionSteps,
} from '../../src/worker/payouts/lifecycle.ts'
import type { Outflow } from '../../src/worker/payouts/outflow.ts'
import { addressAt, amount, cuy, height, ms, txid, uid } from '../d1/fixtures.ts'

const token = addressAt(50)
const [payee, collector] = [addressAt(60), addressAt(70)]
const by = (name: string) => name as BackendName

/**
 * A payout of 1,000 units that the backend `shop` asked for, and that the limits approved unless it
 * is `waiting`.
 */
function payout(state: PayoutState, changes: Partial<PayoutRow> = {}): PayoutRow {
  const ids = { id: 4 as PayoutId, version: 3, uid: uid(1), cuy: cuy(2), osn: 'p' }
  const money = { amount: 1_000, fee: 0, to_address: payee, contract: token, raw: '1000', mark: '', proof: null }
  const limits = { limit_each: null, limit_least: null, limit_day: null, limit_count: null, limit_user: null }
  const isDecided = state !== 'waiting'
  return {
    ...{ ...ids, ...money, ...limits, posted_by: by('shop'), created_at: ms(1), state, changed_at: ms(1) },
    ...{ approved_by: isDecided ? '' : null, approved_at: isDecided ? ms(1) : null, counted: isDecided },
    ...{ attempts: state === 'stuck' ? 1 : 0, attempts_max: 3, txid: isDecided ? txid(9) : null, expires_at: null },
    ...{ height: null, reason: state === 'stuck' ? 'failed' : null, moved: null, received: null },
    ...{ cancelled_by: null, why: null, ...changes },
  }
}

/** The transaction of `payout()`. An `unknown` transaction has no payout and no bytes. */
function transaction(state: TransactionState, changes: Partial<TransactionRow> = {}): TransactionRow {
  const isFound = state !== 'open' && state !== 'expired'
  const found = { height: isFound ? height(90) : null, succeeded: isFound ? state !== 'failed' : null }
  return {
    ...{ id: 5 as PayoutTransactionId, version: 2, txid: txid(9), address: addressAt(40) },
    ...{ payout_id: state === 'unknown' ? null : (4 as PayoutId), bytes: state === 'unknown' ? null : 'ab' },
    ...{ reference: height(80), expires_at: ms(900), changed_at: ms(1), past_height: null, seen_height: null },
    ...{ result: state === 'failed' ? 'REVERT' : null, burnt: null, energy: null },
    ...{ ...found, moved: isFound ? '[]' : null, ended: state === 'open' ? null : state },
    ...{ reported: null, excused: null, held_back: false, sends: 1, sent_at: null, next_send: ms(1), answers: null },
    ...changes,
  }
}

const paid: readonly Outflow[] = [{ contract: token, to: payee, raw: '1000' }]
const shown = (moved: readonly Outflow[] | null, succeeded = true) => {
  return { height: height(95), succeeded, result: succeeded ? 'SUCCESS' : 'REVERT', moved }
}
const say = (moved: readonly Outflow[]) => `${moved.length} parts`
const nothingLeft = { newest: [], other: null, isUnread: false }
const office = { by: by('office'), at: ms(7), isOutflowKnown: false }
const toApprove = { ...office, attempts: undefined }
const toCancel = { ...office, why: 'a test', mayApprove: false }

describe('the table of a payout', () => {
  const isStep = (from: PayoutState, event: PayoutEvent) => {
    return Object.values(payoutSteps[from]).some((events) => events.includes(event))
  }

  it('has every state, and lets nothing go on from what is cancelled', () => {
    expect(Object.keys(payoutSteps)).toEqual(expect.arrayContaining([...payoutStates]))
    expect(payoutSteps.cancelled).toEqual({})
  })

  it.each(payoutStates)('one that is %s is approved, cancelled and signed only where it says so', (from) => {
    const row = payout(from)
    const approved = approve(row, nothingLeft, toApprove, say)
    const isApproved = approved.ok && approved.value.changed_at === office.at
    expect([isApproved, isApproved && approved.value.state]).toEqual([
      isStep(from, 'approve'),
      isStep(from, 'approve') && 'approved',
    ])
    const cancelled = cancel(row, nothingLeft, toCancel, say)
    expect(cancelled.ok && cancelled.value.changed_at === office.at).toBe(isStep(from, 'cancel'))
    expect(sign(row, { txid: txid(8), expires_at: ms(900) }, ms(7))?.state ?? null).toBe(
      isStep(from, 'hand-in') ? 'signed' : null,
    )
  })

  it.each<[string, readonly Outflow[] | null, boolean, PayoutState, TransactionEnd]>([
    ['pays exactly this', paid, true, 'paid', 'paid'],
    ['pays this and more', [...paid, { contract: '', to: collector, raw: '5' }], true, 'paid', 'paid'],
    ['has failed', [], false, 'stuck', 'failed'],
    ['pays less', [{ contract: token, to: payee, raw: '999' }], true, 'stuck', 'other'],
    ['pays somebody else', [{ contract: token, to: collector, raw: '1000' }], true, 'stuck', 'other'],
    ['pays in another token', [{ contract: addressAt(51), to: payee, raw: '1000' }], true, 'stuck', 'other'],
    ['moves nothing', [], true, 'stuck', 'other'],
  ])('a final block whose transaction %s', (_, moved, succeeded, state, ended) => {
    const [step, ...more] = conclude(
      { transaction: transaction('open'), payout: payout('signed') },
      shown(moved, succeeded),
      [],
      ms(7),
    )
    expect([step?.transaction.ended, step?.payout?.state, more]).toEqual([ended, state, []])
    expect(step?.payout?.attempts).toBe(state === 'paid' ? 0 : 1)
  })

  it('decides nothing by a call whose receipt is not read', () => {
    expect(conclude({ transaction: transaction('open'), payout: payout('signed') }, shown(null), [], ms(7))).toEqual([])
  })

  it('a payout that has expired may have another transaction, three in all', () => {
    const expired = (attempts: number) =>
      expire({ transaction: transaction('open'), payout: payout('signed', { attempts }) }, ms(7)).payout
    expect([0, 1, 2].map((attempts) => expired(attempts)?.state)).toEqual(['approved', 'approved', 'stuck'])
    expect(expired(2)).toMatchObject({ reason: 'expired', attempts: 3 })
  })

  it('a person who approves a stuck one gives it three more', () => {
    const approved = approve(payout('stuck', { attempts: 3 }), nothingLeft, toApprove, say)
    expect(approved).toMatchObject({ ok: true, value: { attempts: 3, attempts_max: 6, reason: null } })
  })
})

describe('a transaction with an end', () => {
  /**
   * The states that a transaction in state `from` passes through when a block shows these
   * transfers, and its payout is in `payoutState`.
   */
  const endsOf = (
    from: TransactionState,
    payoutState: PayoutState | null,
    moved: readonly Outflow[],
    succeeded = true,
  ) =>
    conclude(
      { transaction: transaction(from), payout: payoutState === null ? null : payout(payoutState) },
      shown(moved, succeeded),
      [],
      ms(7),
    ).map((pair) => pair.transaction.ended ?? 'open')

  it.each<[string, TransactionState, PayoutState | null, boolean, readonly string[]]>([
    ['paid: only a correction', 'paid', 'paid', true, []],
    ['late, and its receipt is read', 'late', 'cancelled', true, ['late']],
    ['expired, and its payout waits for the next one', 'expired', 'approved', true, ['open', 'paid']],
    ['expired, and its payout is stuck', 'expired', 'stuck', true, ['open', 'paid']],
    ['failed, and blocks show another end', 'failed', 'stuck', true, ['open', 'paid']],
    ['expired, and its payout is cancelled', 'expired', 'cancelled', true, ['late']],
    ['expired, and its payout has another one', 'expired', 'signed', true, ['late']],
    ['expired, failed after all, and its payout is cancelled', 'expired', 'cancelled', false, []],
  ])('%s', (_, from, state, succeeded, ends) => {
    expect(endsOf(from, state, succeeded ? paid : [], succeeded)).toEqual(ends)
  })

  it('late: what it has moved is stored once', () => {
    const late = { ...transaction('late'), height: height(95), succeeded: true }
    const again = (stored: string, moved: readonly Outflow[] | null) =>
      conclude({ transaction: { ...late, moved: stored }, payout: payout('cancelled') }, shown(moved), [], ms(7)).map(
        (pair) => pair.transaction.moved,
      )
    expect(again('[]', paid)).toEqual([JSON.stringify(paid)])
    expect(again('[]', null)).toEqual([])
    expect(again('[]', [])).toEqual([])
    expect(again(JSON.stringify(paid), paid)).toEqual([])
  })

  it('is compared in what it has moved, too, where its block is read again', () => {
    const other = { ...transaction('other'), height: height(95), succeeded: true }
    const again = (stored: string, moved: readonly Outflow[] | null) =>
      conclude(
        { transaction: { ...other, moved: stored }, payout: payout('stuck', { reason: 'other' }) },
        shown(moved),
        [],
        ms(7),
      ).map((pair) => pair.transaction.ended ?? 'open')
    expect(again('[]', paid)).toEqual(['open', 'paid'])
    expect(again('[]', [])).toEqual([])
    expect(again('[]', null)).toEqual([])
    expect(again(JSON.stringify([{ ...paid[0], raw: '999' }]), [])).toEqual(['open', 'other'])
  })

  it('takes only the steps of the table', () => {
    for (const from of ['open', ...transactionEnds] as const) {
      for (const state of payoutStates) {
        const before = { transaction: transaction(from), payout: from === 'unknown' ? null : payout(state) }
        if (from === 'open' && state !== 'signed') continue
        let last: TransactionState = from
        for (const { transaction: next } of conclude(before, shown(paid), [], ms(7))) {
          const now = next.ended ?? 'open'
          if (now !== last)
            expect([last, Object.keys(transactionSteps[last])]).toEqual([last, expect.arrayContaining([now])])
          last = now
        }
      }
    }
  })

  it('each of two steps names the version that the one before it leaves', () => {
    const pairs = conclude({ transaction: transaction('expired'), payout: payout('approved') }, shown(paid), [], ms(7))
    expect(pairs.map(({ transaction: one, payout: of }) => [one.version, of?.version])).toEqual([
      [2, 3],
      [3, 4],
    ])
  })
})

describe('in a token whose fee is confirmed', () => {
  const fee = { basisPoints: 100n, maximum: 8n }
  const parts = (toPayee: string, rest: string, more: Partial<Outflow> = {}): readonly Outflow[] => [
    { contract: token, to: payee, raw: toPayee },
    { contract: token, to: collector, raw: rest, ...more },
  ]
  const end = (moved: readonly Outflow[], fees = [fee], raw = '1000') => {
    const row = payout('signed', { raw })
    const [step] = conclude({ transaction: transaction('open'), payout: row }, shown(moved), fees, ms(7))
    return [step?.transaction.ended, step?.payout?.received]
  }

  it.each<[string, readonly Outflow[], readonly unknown[]]>([
    ['exactly this split', parts('992', '8'), ['paid', '992']],
    ['the whole amount, without a fee', paid, ['paid', null]],
    ['a unit less', parts('991', '9'), ['other', null]],
    ['a unit more', parts('993', '7'), ['other', null]],
    ['no fee beside what the fee leaves', parts('992', '8').slice(0, 1), ['other', null]],
    ['a part more', [...parts('992', '8'), { contract: token, to: collector, raw: '1' }], ['other', null]],
    ['the fee in another token', parts('992', '8', { contract: '' }), ['other', null]],
    ['the fee to the payee as well', parts('992', '8', { to: payee }), ['other', null]],
  ])('it pays %s', (_, moved, expected) => {
    expect(end(moved)).toEqual(expected)
  })

  it('the share is rounded downwards, and each fee that was ever confirmed counts', () => {
    expect(end(parts('197', '2'), [fee], '199')).toEqual(['other', null]) // a fee of 1% of 199 is 1.99, rounded to 1
    expect(end(parts('198', '1'), [fee], '199')).toEqual(['paid', '198'])
    expect(end(parts('950', '50'), [fee, { basisPoints: 500n, maximum: 100n }])).toEqual(['paid', '950'])
    expect(end(parts('950', '50'))).toEqual(['other', null])
  })
})

describe('the limits of a rule', () => {
  const limit: PayoutLimit = {
    ...{ each: amount(100n), least: amount(10n), perDay: amount(300n), countPerDay: 3, perUserPerDay: amount(150n) },
  }
  const used = (units: bigint, count = 1) => ({ amount: units, count })

  it.each<[string, bigint, ReturnType<typeof used>, ReturnType<typeof used>, boolean]>([
    ['the most', 100n, nothingUsed, nothingUsed, true],
    ['a unit more', 101n, nothingUsed, nothingUsed, false],
    ['the least', 10n, nothingUsed, nothingUsed, true],
    ['a unit less', 9n, nothingUsed, nothingUsed, false],
    ['the rest of the day', 100n, used(200n), nothingUsed, true],
    ['a unit beyond the day', 100n, used(201n), nothingUsed, false],
    ['the rest of the day of its user', 50n, used(100n), used(100n), true],
    ['a unit beyond the day of its user', 51n, used(100n), used(100n), false],
    ['the last one of the day', 10n, used(20n, 2), nothingUsed, true],
    ['one too many', 10n, used(30n, 3), nothingUsed, false],
  ])('%s', (_, units, ofAll, ofUser, isWithin) => {
    expect(isWithinLimits(limit, units, ofAll, ofUser)).toBe(isWithin)
  })

  it('a currency without limits waits, and one without a limit of users has none', () => {
    expect(isWithinLimits(null, 50n, nothingUsed, nothingUsed)).toBe(false)
    expect(isWithinLimits({ ...limit, perUserPerDay: null }, 50n, used(200n), used(9_999n))).toBe(true)
  })
})

describe('what nodes say about a sending', () => {
  const say2 = (list: readonly NodeAnswer[], node: number, code: string, at: number) =>
    noteAnswer(list, { node, name: `node ${node}`, code }, ms(at))

  it('is kept once for each node, with how often it has answered', () => {
    const list = say2(say2(say2([], 2, 'SIGERROR', 10), 1, 'SUCCESS', 20), 2, 'TAPOS_ERROR', 30)
    expect(list).toEqual([
      { node: 1, name: 'node 1', answer: 'SUCCESS', at: 20, times: 1 },
      { node: 2, name: 'node 2', answer: 'TAPOS_ERROR', at: 30, times: 2 },
    ])
  })

  it('is told with the names of those that have said nothing', () => {
    const names = ['node 1', 'backup', 'node 3']
    expect(sayAnswers(say2([], 1, 'SIGERROR', 10), names)).toBe('node 1: SIGERROR, no answer of backup, node 3')
    expect(sayAnswers([], names)).toBe('no answer of node 1, backup, node 3')
    expect(sayAnswers(say2([], 1, 'SUCCESS', 10), ['node 1'])).toBe('node 1: SUCCESS')
  })
})
