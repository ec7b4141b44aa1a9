import { describe, expect, it } from 'vitest'
import { amountMax } from '../../src/worker/common/amount.ts'
import type { HeldReason } from '../../src/worker/common/reasons.ts'
import { type TransferState, transferStates } from '../../src/worker/d1/tables.ts'
import type { JudgedTransfer } from '../../src/worker/deposits/transfer.ts'
import {
  decideReview,
  decideTransfers,
  type KnownTransfer,
  type TransferStore,
  transferKey,
  transferSteps,
  walletKey,
} from '../../src/worker/deposits/transitions.ts'
import {
  addressAt,
  amount,
  belowMinimum,
  block,
  credited,
  cuy,
  held,
  inReview,
  moved,
  refused,
  seen,
  transfer,
  txid,
  uid,
} from '../d1/fixtures.ts'

const position = 110
const nothing: TransferStore = { position, known: new Map(), balances: new Map() }

/** The transfer of these tests as it is stored in `state`. */
function known(state: TransferState, changes: Partial<KnownTransfer> = {}): KnownTransfer {
  const { txid, position, block, cuy, native, from, to, raw } = transfer()
  const reason = state === 'held' ? 'retired' : state === 'refused' ? 'dust' : null
  const row = {
    txid,
    position,
    block,
    cuy,
    native,
    from,
    to,
    raw,
    state,
    reason,
    uid: state === 'moved' ? null : uid(1),
  }
  // safe: only its id is unbranded
  return { ...row, id: 7, version: 3, review: null, isSought: false, isAskedAgain: false, ...changes } as KnownTransfer
}

/**
 * State, reason and review of a transfer after `judged` is stored over `stored` (null: nothing is
 * stored); null if nothing is to be written.
 */
function outcome(
  judged: JudgedTransfer,
  stored: KnownTransfer | null,
  balances: TransferStore['balances'] = new Map(),
) {
  const list = stored === null ? [] : [[transferKey(judged), stored] as const]
  const { changed, fresh } = decideTransfers([judged], { ...nothing, known: new Map(list), balances })
  const [next] = [...changed, ...fresh]
  return next === undefined ? null : [next.state, next.reason, next.review].filter((word) => word !== null).join(' ')
}

const verdicts = { seen: seen(), held: held('too-large'), refused, credited: credited(), moved } as const
const above = { block: block(position + 5) }
/**
 * The transfer of these tests with a verdict. If it is `seen`, it is in a block above the scan's
 * position.
 */
const judgedAs = (state: keyof typeof verdicts) => transfer(verdicts[state], state === 'seen' ? above : {})

describe('the table of steps', () => {
  it('has every state, and lets nothing go on from what is credited or moved', () => {
    expect(Object.keys(transferSteps)).toEqual([...transferStates])
    expect([transferSteps.credited, transferSteps.moved]).toEqual([{ credited: ['found-again'] }, {}])
  })

  const states = Object.keys(verdicts) as (keyof typeof verdicts)[]
  const pairs = transferStates.flatMap((from) => states.map((to) => [from, to] as const))

  it.each(pairs)('%s, judged %s, takes the step only if it has the condition "read"', (from, to) => {
    const isStep = transferSteps[from][to]?.includes('read') === true
    expect(outcome(judgedAs(to), known(from))?.split(' ')[0] ?? null).toBe(isStep ? to : null)
  })

  it.each(states)('refused, judged %s while an operator has its block read again, is decided anew', (to) => {
    const isStep = transferSteps.refused[to]?.includes('asked-again') === true
    const next = outcome(
      to === 'refused' ? transfer({ ...refused, reason: 'below-minimum' } as never) : judgedAs(to),
      known('refused', { isAskedAgain: true }),
    )
    expect(next?.split(' ')[0] ?? null).toBe(isStep ? to : null)
  })
})

describe('a transfer', () => {
  it('that is not known is stored as it is judged', () => {
    for (const [state, verdict] of Object.entries(verdicts)) {
      const changes = state === 'seen' ? above : {}
      expect(outcome(transfer(verdict, changes), null)?.split(' ')[0]).toBe(state)
    }
  })

  it('is not seen at or below the position, nor before the scan has started', () => {
    expect(outcome(transfer(seen(), { block: block(position) }), null)).toBeNull()
    expect(decideTransfers([transfer(seen(), above)], { ...nothing, position: null }).fresh).toEqual([])
  })

  it('that is stored as it is judged is not written', () => {
    expect(outcome(transfer(held('retired')), known('held'))).toBeNull()
    expect(outcome(transfer(held('retired'), { raw: 6n }), known('held'))).toBe('held retired')
    expect(outcome(transfer(held('too-large')), known('held'))).toBe('held too-large')
  })

  it('that is in a list twice is decided once, by its last place', () => {
    const { fresh } = decideTransfers([transfer(refused), transfer(held())], nothing)
    expect(fresh.map(({ state }) => state)).toEqual(['held'])
  })

  it('names the version that was decided about, and is found if a correction had it looked for', () => {
    const store = (changes: Partial<KnownTransfer>) => {
      const judged = transfer()
      return decideTransfers([judged], { ...nothing, known: new Map([[transferKey(judged), known('held', changes)]]) })
    }
    expect(store({ version: 9 }).changed.map(({ known }) => known)).toEqual([{ id: 7, version: 9, isSame: true }])
    expect(store({ state: 'credited', reason: null, isSought: true })).toMatchObject({
      changed: [],
      found: [{ id: 7 }],
    })
  })

  describe('that is credited is compared in every fact', () => {
    const judged = transfer()
    const compare = (shown: JudgedTransfer, isSought: boolean) => {
      const stored = known('credited', { isSought })
      const all = decideTransfers([shown], { ...nothing, known: new Map([[transferKey(shown), stored]]) })
      expect([all.changed, all.fresh]).toEqual([[], []])
      return [all.found, all.contradicted.map(({ shown }) => shown)]
    }
    const id = { id: 7, version: 3 }

    it('and is found where it is sought and shown as it is credited, also in another block', () => {
      const { height } = judged.block
      expect(compare(judged, false)).toEqual([[], []])
      expect(compare(judged, true)).toEqual([[{ ...id, height, isMoved: false }], []])
      expect(compare({ ...judged, block: block(109) }, true)).toEqual([[{ ...id, height: 109, isMoved: true }], []])
    })

    it('and contradicted by another block where it is not sought', () => {
      const elsewhere = { ...judged, block: block(109) }
      expect(compare(elsewhere, false)).toEqual([[], [elsewhere]])
    })

    it.each<[string, Partial<JudgedTransfer>]>([
      ['amount', { raw: 4n }],
      ['sender', { from: addressAt(5) }],
      ['recipient', { to: addressAt(1), uid: uid(2) }],
      ['currency', { cuy: cuy(2) }],
    ])('and contradicted by another %s, sought or not', (_what, changes) => {
      const shown = { ...judged, ...changes } as JudgedTransfer // safe: the state stays
      for (const isSought of [false, true]) expect(compare(shown, isSought)).toEqual([[], [shown]])
    })

    it('whatever the rules say of it now: a transfer of an operator, or a refused one, is found again', () => {
      for (const verdict of [refused, held(), moved]) {
        expect(compare(transfer(verdict), true)).toEqual([[{ ...id, height: judged.block.height, isMoved: false }], []])
      }
    })

    it('as is a movement between own addresses, but for its block', () => {
      const stored = known('moved', { uid: null })
      const compareMoved = (shown: JudgedTransfer) => {
        const all = decideTransfers([shown], { ...nothing, known: new Map([[transferKey(shown), stored]]) })
        expect([all.changed, all.fresh, all.found]).toEqual([[], [], []])
        return all.contradicted.map(({ shown }) => shown)
      }
      expect(compareMoved({ ...transfer(moved), block: block(109) })).toEqual([])
      const deposit = { ...judged, to: addressAt(1) }
      expect(compareMoved(deposit)).toEqual([deposit])
      expect(compareMoved({ ...transfer(seen()), raw: 4n })).toEqual([])
    })

    it('but not with what one node shows in a block that is not final', () => {
      expect(compare({ ...transfer(seen()), raw: 4n }, true)).toEqual([[], []])
    })
  })
})

describe('a credit', () => {
  const wallet = (balance: bigint) => new Map([[walletKey(1, 1), balance]])

  it.each([
    [amountMax - 5n, 'credited'],
    [amountMax - 4n, 'held wallet-full'],
  ])('of 5 into a wallet of %s is %s', (balance, expected) => {
    expect(outcome(transfer(), null, wallet(balance))).toBe(expected)
    expect(outcome(transfer(), known('held'), wallet(balance))).toBe(expected)
  })

  it('counts for the ones after it, changes before new ones, and not where it is held', () => {
    const list = [1, 2, 3].map((n) => transfer(credited(n === 2 ? 5n : 2n), { txid: txid(n) }))
    const stored = known('held', { txid: txid(3) })
    const store = { ...nothing, known: new Map([[`${txid(3)}:0`, stored]]), balances: wallet(amountMax - 5n) }
    const { changed, fresh } = decideTransfers(list, store)
    expect([...changed, ...fresh].map(({ txid, state }) => [Number(txid), state])).toEqual([
      [3, 'credited'],
      [1, 'credited'],
      [2, 'held'],
    ])
  })

  it('of one currency or user takes no room from another', () => {
    const others = [transfer(credited(), { cuy: cuy(2) }), transfer(credited(), { uid: uid(2) })]
    for (const other of others) expect(outcome(other, null, wallet(amountMax))).toBe('credited')
  })
})

describe('what is held for review', () => {
  it.each([
    ['open', credited(), 'held review open'],
    ['open', refused, 'held review open'],
    ['open', moved, 'moved open'],
    ['refuse', credited(), 'refused review refuse'],
    ['credit', inReview(), 'credited credit'],
    ['credit', credited(), 'credited credit'],
    ['credit', held('retired'), 'held retired credit'],
    ['credit', belowMinimum, 'refused below-minimum credit'],
  ] as const)('and decided "%s" stays with it whatever is judged later', (review, verdict, expected) => {
    const stored = known('held', { review, reason: 'wallet-full' })
    expect(outcome(transfer(verdict, { raw: 6n }), stored)).toBe(expected)
  })

  it('and decided to be credited is not refused, unless the chain shows another amount', () => {
    for (const state of ['held', 'seen', 'dropped'] as const) {
      expect(outcome(transfer(belowMinimum), known(state, { review: 'credit' }))).toBe('credited credit')
    }
    expect(outcome(transfer(belowMinimum), known('refused', { review: 'credit' }))).toBe(null)
  })

  it('begins with the first judgement that asks for it', () => {
    expect(outcome(transfer(inReview()), null)).toBe('held review open')
    expect(outcome(transfer(inReview()), known('held'))).toBe('held review open')
  })
})

describe('a decision', () => {
  const deposit = known('held', { reason: 'review', review: 'open' })
  const credit = { state: 'credited', amount: amount(5n) } as const
  const retired = { state: 'held', reason: 'retired' as HeldReason } as const

  it.each([
    ['credit', credit, 0n, { state: 'credited', reason: null, amount: 5n }],
    ['credit', credit, amountMax, { state: 'held', reason: 'wallet-full', amount: 0n }],
    ['credit', retired, 0n, { state: 'held', reason: 'retired', amount: 0n }],
    ['refuse', credit, 0n, { state: 'refused', reason: 'review', amount: 0n }],
  ] as const)('to %s, by %o beside a balance of %s', (decision, verdict, balance, expected) => {
    const next = decideReview(deposit, decision, verdict, new Map([[walletKey(1, 1), balance]]))
    expect(next).toMatchObject({ ...expected, review: decision, known: { id: 7, version: 3 } })
  })

  it('counts for the next one of the same wallet', () => {
    const balances = new Map([[walletKey(1, 1), amountMax - 6n]])
    expect([1, 2].map(() => decideReview(deposit, 'credit', credit, balances).state)).toEqual(['credited', 'held'])
  })
})
