import { beforeEach, describe, expect, it } from 'vitest'
import { openStates, type PayoutState, payoutStates } from '../../src/worker/common/payout-states.ts'
import { type TransactionEnd, transactionEnds } from '../../src/worker/d1/payout-tables.ts'
import { payoutSteps, type TransactionState, transactionSteps } from '../../src/worker/payouts/lifecycle.ts'
import {
  approve,
  cancel,
  end,
  expectNo,
  found,
  move,
  nothingFound,
  open,
  paid,
  pay,
  payout,
  read,
  sign,
  signed,
  stateOf,
  stick,
  unknown,
} from './payout-rows.ts'
import { c, contents, correction, expectRefusal, rescan, run, storeRows, t1, t2, t4, type Values } from './rows.ts'

let db: D1Database
beforeEach(async () => {
  db = await storeRows()
})

describe('a payout takes the steps of the table and no others', () => {
  /**
   * The statements that bring a payout into each state, while no operator has lowered the finalized
   * height.
   */
  const begin: Readonly<Record<PayoutState, readonly string[]>> = {
    waiting: [payout()],
    approved: [payout(), approve],
    signed,
    paid: [...signed, found('paid'), pay],
    stuck: [...signed, found('failed', `'[]'`, 0), stick('failed')],
    cancelled: [payout(), cancel],
  }
  const back = end(`ended = NULL, ${nothingFound}`)
  /**
   * The statements for a step of the payout to each state. If its transaction must take a step too,
   * that comes first.
   */
  const steps: Readonly<Record<PayoutState, (from: PayoutState) => readonly string[]>> = {
    waiting: () => [move(`state = 'waiting'`)],
    approved: (from) =>
      from === 'signed'
        ? [end('past_height = 105'), end(`ended = 'expired'`), move(`state = 'approved', attempts = 1`)]
        : from === 'stuck'
          ? [move(`state = 'approved', approved_by = 'office', reason = NULL, moved = NULL, attempts_max = 4`)]
          : [approve],
    signed: (from) =>
      from === 'paid'
        ? [correction(103)] // a trigger makes this step when the finalized height is lowered
        : from === 'stuck'
          ? [back, move(`state = 'signed', attempts = 0, height = NULL, reason = NULL`)]
          : from === 'approved'
            ? [open(), sign]
            : [sign],
    paid: (from) => [...(from === 'signed' ? [found('paid')] : []), pay],
    stuck: (from) => [...(from === 'signed' ? [found('failed', `'[]'`, 0)] : []), stick('failed')],
    cancelled: () => [cancel],
  }
  const pairs = payoutStates.flatMap((from) => payoutStates.map((to) => [from, to] as const))

  it.each(pairs)('%s → %s', async (from, to) => {
    await run(...begin[from])
    const before = await contents()
    const [last = '', ...first] = steps[to](from).toReversed()
    if (payoutSteps[from][to] === undefined) {
      await expectNo(last, from === 'signed' && to === 'signed' ? 'no such step' : '')
      expect(await contents()).toEqual(before)
    } else {
      await run(...first.toReversed(), last)
      expect(await stateOf()).toBe(to)
    }
  })

  it('the states that are still to be decided are those from which a step leads on without a correction', () => {
    const leads = payoutStates.filter((state) =>
      Object.values(payoutSteps[state])
        .flat()
        .some((why) => why !== 'reopens'),
    )
    expect(leads).toEqual(openStates)
  })
})

describe('a transaction takes the steps of the table and no others', () => {
  const states: readonly TransactionState[] = ['open', ...transactionEnds]
  const facts: Readonly<Record<TransactionEnd, string>> = {
    paid: `height = 104, succeeded = 1, moved = ${paid()}`,
    failed: `height = 104, succeeded = 0, moved = '[]'`,
    other: `height = 104, succeeded = 1, moved = ${paid(7)}`,
    expired: 'past_height = 105',
    unknown: `height = 104, succeeded = 1, moved = '[]'`,
    late: `height = 104, succeeded = 1, moved = ${paid()}`,
  }
  const after: Readonly<Record<string, string>> = {
    paid: pay,
    failed: stick('failed'),
    other: stick('other').replace('WHERE', `, moved = ${paid(7)} WHERE`),
    expired: move(`state = 'approved', attempts = 1`),
  }
  /** Brings transaction 1 into this state, and its payout into the state that goes with it. */
  const begin = async (state: TransactionState) => {
    if (state === 'unknown')
      return run(payout(), approve, unknown(), read, rescan({ from_height: '90', to_height: '105', next_height: '90' }))
    await run(...signed)
    if (state === 'open') return run(end('past_height = 105'))
    const first = state === 'late' ? 'failed' : state
    if (first === 'expired') await run(end('past_height = 105'), end(`ended = 'expired'`))
    else await run(end(`ended = '${first}', ${facts[first]}`))
    await run(after[first] ?? '')
    if (state === 'late') await run(end(`ended = 'late', ${facts.late}`))
  }
  const stepTo = (from: TransactionState, to: TransactionState) => {
    if (to !== 'open') return end(`ended = '${to}', ${facts[to]}`)
    const bytes = from === 'unknown' ? `payout_id = 1, bytes = 'ab', reference = 80, expires_at = 900, ` : ''
    return end(`ended = NULL, ${bytes}${nothingFound}`)
  }

  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))('%s → %s', async (from, to) => {
    if (from === to) return expect(transactionSteps[from][to]).toBeUndefined()
    await begin(from)
    if (transactionSteps[from][to] === undefined) return expectNo(stepTo(from, to), 'no such step')
    const isByCorrection = transactionSteps[from][to]?.every((event) => event === 'corrected')
    if (!isByCorrection) return run(stepTo(from, to))
    await expectNo(stepTo(from, to), 'only a correction')
    await run(correction(103)) // a trigger opens the transaction again when the finalized height is lowered
    expect(await db.prepare('SELECT ended FROM payout_transaction').first('ended')).toBeNull()
  })

  it('names the version that it was decided about, as a payout does', async () => {
    await run(...signed)
    for (const sql of [found('paid'), end('past_height = 105')])
      await expectNo(sql.replace('version + 1', 'version'), 'another version')
    await run(found('paid'))
    await expectNo(pay.replace('version + 1', 'version + 2'), 'another version')
  })
})

describe('a step that is not allowed is refused', () => {
  it.each(['shop', 'Shop', 'SHOP'])('by the name that has asked for it, as %s', async (name) => {
    await run(payout())
    await expectNo(approve.replaceAll('office', name), 'payout_approved_by')
  })

  it('by a name that no backend and no person has', async () => {
    await run(payout())
    for (const name of ['\u017Fhop', 'of fice', 'Ann@example.com', 'x'.repeat(65)]) {
      await expectNo(approve.replaceAll('office', name), 'payout_approved_by')
    }
  })

  it('by the limits, once a person must decide', async () => {
    await run(payout())
    await expectNo(approve.replaceAll('office', ''), 'only a person')
  })

  it('as approved and not counted', async () => {
    await run(payout())
    await expectNo(approve.replace('counted = 1', 'counted = 0'), 'who approved it')
  })

  it('from cancelled to a transaction', async () => {
    await run(payout(), cancel)
    await expectRefusal(open(), 'not to be signed')
  })

  it('from signed without the end of its transaction, or with another one', async () => {
    await run(...signed)
    const expired = move(`state = 'approved', attempts = 1`)
    for (const sql of [pay, expired, stick('failed')]) await expectNo(sql, 'its transaction says otherwise')
    await run(found('failed', `'[]'`, 0))
    for (const sql of [pay, expired, stick('other')]) await expectNo(sql, 'its transaction says otherwise')
    await run(stick('failed'))
  })

  it('with other attempts than transactions', async () => {
    await run(...signed, found('failed', `'[]'`, 0))
    for (const attempts of ['attempts', 'attempts + 2'])
      await expectNo(stick('failed').replace('attempts + 1', attempts), 'its attempts are counted otherwise')
  })
})

describe('a transaction is refused', () => {
  it.each<[string, Values, string]>([
    ['of a payout that waits', {}, 'not to be signed'],
    ['of none, with bytes', { payout_id: '7' }, 'not to be signed'],
    ['that refers to a block that is not final', { reference: '121' }, 'reference block is not final'],
    ['that has ended at once', { ended: `'paid'`, height: '99', succeeded: '1', moved: `'[]'` }, ''],
    ['that was sent before', { sends: '1' }, 'it begins open'],
    ['of a later version', { version: '2' }, 'it begins open'],
    ['that is held back', { held_back: '1' }, 'it begins open'],
  ])('%s', async (_, changes, why) => {
    await run(payout())
    if (why !== 'not to be signed') await run(approve)
    await expectRefusal(open(changes), why)
  })

  it('beside another one that can be mined; the same one twice; one transaction of two payouts', async () => {
    await run(payout(), approve, payout({ osn: `'q'`, amount: '5', raw: `'5'` }), approve.replace('id = 1', 'id = 2'))
    await run(open())
    await expectNo(open({ txid: `'${t1}'` }), 'not to be signed')
    await expectNo(open({ payout_id: '2' }), 'already stored')
    await expectNo(open(), 'already stored')
  })

  it('that nobody names, in a block that is not final', async () => {
    await expectRefusal(unknown({ height: '121' }), 'its block is not final')
  })

  it('whose blocks were read before, unless they are read again', async () => {
    await run(payout(), approve)
    await expectNo(open({ reference: '90' }), 'blocks are not read again')
    await run(rescan({ from_height: '92', to_height: '100', next_height: '92' }))
    await expectNo(open({ reference: '90' }), 'blocks are not read again')
    await run(rescan({ from_height: '91', to_height: '100', next_height: '91' }), open({ reference: '90' }))
  })
})

it('where an operator ends a request that has the blocks of a transaction, the part that is needed goes on', async () => {
  await run(payout(), approve, rescan({ from_height: '90', to_height: '100', next_height: '90' }))
  await run(open({ reference: '95' }), sign)
  const kinds = async () => {
    const { results } = await db.prepare('SELECT kind, next_height AS at FROM rescan WHERE finished_at IS NULL').all()
    return results.map(({ kind, at: next }) => `${kind} ${next}`)
  }
  expect(await kinds()).toEqual(['request 90'])
  await run(`UPDATE rescan SET finished_at = 31, closed = 'not needed' WHERE finished_at IS NULL`)
  expect(await kinds()).toEqual(['payout 96'])
})

describe('an end that blocks do not show is refused', () => {
  const again = rescan({ from_height: '91', to_height: '100', next_height: '91' })
  beforeEach(() => run(payout(), approve, again, open({ reference: '90' }), sign, read))

  it.each([
    ['paid, by another amount', found('paid', paid(21)), 'it has ended otherwise'],
    ['paid, by nothing', found('paid', `'[]'`), 'it has ended otherwise'],
    ['other, although it has paid', found('other'), 'it has ended otherwise'],
    ['paid, although it has failed', found('paid', paid(), 0), ''],
    ['failed, although it has succeeded', found('failed'), 'it has ended otherwise'],
    [
      'in a block that is not read',
      end(`ended = 'failed', height = 106, succeeded = 0, moved = '[]'`),
      'block is not read',
    ],
    ['expired, and no block is past it', end(`ended = 'expired'`), 'it can still be in a block'],
    [
      'expired by a block that is found with it',
      end(`ended = 'expired', past_height = 105`),
      'it can still be in a block',
    ],
    ['other bytes', end(`bytes = 'cd'`), 'its bytes must not change'],
    ['another expiration', end('expires_at = 5'), 'its bytes must not change'],
    ['another payout', end('payout_id = 2'), 'its bytes must not change'],
  ])('%s', async (_, sql, why) => {
    await expectNo(sql, why)
  })

  it('expired while a block of its life is still to be read', async () => {
    await run(end('past_height = 105'))
    const isOpen = `SELECT count(*) AS open FROM rescan WHERE finished_at IS NULL`
    await expectNo(end(`ended = 'expired'`), 'it can still be in a block')
    // an operator closes it; blocks that may have the transaction stay unread
    await run(`UPDATE rescan SET finished_at = 30, closed = 'not needed'`)
    expect(await db.prepare(isOpen).first('open')).toBe(1)
    await expectNo(end(`ended = 'expired'`), 'it can still be in a block')
    await run(`UPDATE rescan SET next_height = to_height + 1, finished_at = 30 WHERE finished_at IS NULL`)
    // below block 100, to which the transaction refers
    await run(rescan({ from_height: '80', to_height: '90', next_height: '80' }))
    await run(end(`ended = 'expired'`), move(`state = 'approved', attempts = 1`))
  })

  it('while the scan is halted', async () => {
    await run(`UPDATE scan SET halted = 'chain-forked'`)
    await expectNo(found('paid'), 'the scan is halted')
  })

  it('what was found stays as it was found', async () => {
    await run(found('paid'), pay)
    await expectNo(end('height = 98'), 'what was found must not change')
  })

  it('three that have expired are the end: no fourth one without a person', async () => {
    const isRead = 'UPDATE rescan SET next_height = to_height + 1, finished_at = 30 WHERE finished_at IS NULL'
    for (const [i, txid] of [t4, t1, t2].entries()) {
      const reference = String(105 + i) // the newest block that is read
      if (i > 0) await run(open({ txid: `'${txid}'`, reference }), sign.replace(t4, txid))
      await run(isRead, `UPDATE scan SET height = height + 1, finalized = finalized + 1`)
      await run(end('past_height = (SELECT height FROM scan)', i + 1), end(`ended = 'expired'`, i + 1))
      const more = move(`state = 'approved', attempts = ${i + 1}`)
      const over = move(`state = 'stuck', reason = 'expired', attempts = ${i + 1}`)
      await expectNo(i < 2 ? over : more, 'its attempts are counted otherwise')
      await run(i < 2 ? more : over)
    }
    await expectRefusal(open({ txid: `'${'5'.repeat(64)}'` }), 'not to be signed')
  })
})

it('what a transaction without a payout has moved is stored by what it was, once each, until it gets a payout', async () => {
  const parts = (...raws: readonly number[]) =>
    `'${JSON.stringify(raws.map((raw) => ({ contract: '', to: c, raw: String(raw) })))}'`
  const outflows = () => db.prepare('SELECT contract, to_address, raw, transaction_id FROM unnamed_outflow').raw()
  await run(payout(), approve, unknown({ moved: parts(20, 7, 20) }), unknown({ txid: `'${t1}'`, moved: parts(7) }))
  const stored = [
    ['', c, '20', 1],
    ['', c, '7', 1],
    ['', c, '7', 2],
  ]
  expect(await outflows()).toEqual(stored)
  await run(
    end(`excused = 'x'`, 2),
    end(`moved = ${parts(7, 8)}`, 2),
    rescan({ from_height: '90', to_height: '100', next_height: '90' }),
  )
  expect(await outflows()).toEqual([...stored, ['', c, '8', 2]])
  await run(
    end(
      `payout_id = 1, bytes = 'ab', reference = 80, expires_at = 900, height = NULL, succeeded = NULL, moved = NULL, ended = NULL`,
    ),
  )
  expect(await outflows()).toEqual([
    ['', c, '7', 2],
    ['', c, '8', 2],
  ])
})

it('an excuse is of a transaction that stops payouts, and of no other one', async () => {
  await run(...signed, unknown({ txid: `'${t1}'` }))
  await expectRefusal(end(`excused = 'x'`), 'payout_transaction_excused')
  await run(`UPDATE payout_transaction SET version = version + 1, excused = 'the office', changed_at = 30 WHERE id = 2`)
  await expectRefusal(
    `UPDATE payout_transaction SET version = version + 1, excused = '' WHERE id = 2`,
    'payout_transaction_excused',
  )
})

describe('what people are told about a transaction', () => {
  beforeEach(() => run(...signed))

  it.each([
    ['a time of the first broadcast below 0', 'sent_at = -1', 'payout_transaction_sent_at'],
    ['one that is no whole number', 'sent_at = 1.5', 'cannot store REAL'],
    ['one that a double cannot hold', 'sent_at = 9007199254740992', 'payout_transaction_sent_at'],
    ['answers that are no JSON', `answers = '['`, 'payout_transaction_answers'],
    [
      'more answers than three nodes give',
      `answers = json_array('${'x'.repeat(4_000)}')`,
      'payout_transaction_answers',
    ],
    ['broadcasts below 0', 'sends = -1', 'payout_transaction_sends'],
    ['the cost of one that has not failed', 'burnt = 1, energy = 1', 'payout_transaction_burnt'],
  ])('is never %s', async (_, set, why) => {
    await expectNo(`UPDATE payout_transaction SET ${set} WHERE id = 1`, why)
  })

  it('is the word of one that failed, and its cost, whole', async () => {
    await expectNo(
      found('paid', paid()).replace('succeeded = 1', `succeeded = 1, result = 'REVERT'`),
      'payout_transaction_result',
    )
    await expectNo(
      found('failed', `'[]'`, 0).replace('succeeded = 0', `succeeded = 0, result = 'a word'`),
      'payout_transaction_result',
    )
    await run(found('failed', `'[]'`, 0).replace('succeeded = 0', `succeeded = 0, result = 'REVERT'`))
    await expectNo(end(`result = 'OUT_OF_ENERGY'`), 'what was found must not change')
    await expectNo('UPDATE payout_transaction SET burnt = 1 WHERE id = 1', 'payout_transaction_burnt')
    await expectNo('UPDATE payout_transaction SET burnt = -1, energy = 0 WHERE id = 1', 'payout_transaction_burnt')
    await expectNo('UPDATE payout_transaction SET burnt = 0, energy = -1 WHERE id = 1', 'payout_transaction_energy')
    await run('UPDATE payout_transaction SET burnt = 345000, energy = 11850 WHERE id = 1')
  })
})
