import { hash } from 'node:crypto'
import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { AnyLine } from './archive-builder.ts'

const scale = 6
const payoutFee = 1_000_000n
const hexOf = (...parts: readonly (string | number)[]) => hash('sha256', parts.join(' '))
const addressOf = (name: number) => hexOf('address', name).slice(0, 40)
const [token, customer, payer, stranger] = [addressOf(8_888), addressOf(9_999), addressOf(6_666), addressOf(7_777)]

/** Makes lines about a small business: what happened, one after the other, with right sums. */
export function createStory() {
  const lines: AnyLine[] = []
  const ledger = createLedger(lines)
  let transfers = 0
  return {
    lines,
    tick: ledger.tick,
    configure: () =>
      lines.push({
        row: 'configuration',
        settings: [{ name: 'TRON_CHAIN_ID', value: '0x1', stored_at: ledger.now() }],
        currencies: [
          { cuy: 1, decimals: 6, scale, stored_at: ledger.now() },
          { cuy: 2, contract: token, decimals: 18, scale, stored_at: ledger.now() },
        ],
        ...{ decimals: [], kept: [], ranges: [] },
      }),
    address: (uid: number) => {
      const row = { row: 'address', id: uid, uid, address: addressOf(uid), issued_height: 1 }
      lines.push({ ...row, created_at: ledger.now(), for_orders: 0 })
    },
    deposit: (uid: number, cuy: number, units: bigint) => {
      const id = ++transfers
      const raw = cuy === 1 ? units : units * 10n ** 12n
      lines.push({
        ...{ row: 'transfer', id, version: 1, txid: hexOf('transfer', id), position: 0, height: 10 + id, cuy, uid },
        ...{ from_address: stranger, to_address: addressOf(uid), raw: String(raw), native: cuy === 1 ? 1 : 0 },
        ...{ state: 'credited', amt: formatUnits(units, scale), created_at: ledger.now(), changed_at: ledger.now() },
      })
      ledger.entry(uid, cuy, 1, units, { transfer_id: id })
    },
    post: (uid: number, cuy: number, type: number, units: bigint, osn: string) =>
      ledger.entry(uid, cuy, type, units, { osn, posted_by: 'shop' }),
    transfer: (from: number, to: number, cuy: number, units: bigint, osn: string) => {
      ledger.entry(from, cuy, 3, -units, { osn, posted_by: 'shop' })
      ledger.entry(to, cuy, 3, units, { osn, posted_by: 'shop' })
    },
    payout: createPayouts(lines, ledger),
    complete: () => {
      const now = ledger.now()
      const row = { row: 'scan', height: 1_000, finalized: 1_000, finalized_time: now, finalized_at: now }
      lines.push({ ...row, advanced_at: now, caught_up_at: now, tried_at: now, corrected_by: 0, rescans: [] })
    },
  }
}

type Ledger = ReturnType<typeof createLedger>

/** The entries and events, with the balances of the wallets. */
function createLedger(lines: AnyLine[]) {
  let [newest, time] = [0, 1_800_000_000_000]
  const wallets = new Map<string, { id: number; balance: bigint; number: number; types: Map<number, number> }>()
  const walletOf = (uid: number, cuy: number) => {
    const key = `${uid} ${cuy}`
    const wallet = wallets.get(key) ?? {
      id: wallets.size + 1,
      balance: 0n,
      number: 0,
      types: new Map<number, number>(),
    }
    wallets.set(key, wallet)
    return wallet
  }
  return {
    now: () => time,
    /** Each step of a story happens a second after the one before it. */
    tick: () => {
      time += 1_000
    },
    entry: (
      uid: number,
      cuy: number,
      type: number,
      units: bigint,
      {
        posted_by = '',
        ...more
      }: { readonly osn?: string; readonly transfer_id?: number; readonly posted_by?: string },
    ) => {
      const wallet = walletOf(uid, cuy)
      wallet.balance += units
      wallet.number += 1
      const ofType = (wallet.types.get(type) ?? 0) + 1
      wallet.types.set(type, ofType)
      lines.push({
        ...{ row: 'entry', id: ++newest, wallet_id: wallet.id, uid, cuy, type, ...more },
        ...{ amt: formatUnits(units, scale), balance: formatUnits(wallet.balance, scale), mark: '' },
        ...{ created_at: time, posted_by, number: wallet.number, type_number: ofType },
      })
    },
    event: (type: string, uid: number, about: object) =>
      lines.push({ row: 'event', id: ++newest, type, uid, created_at: time, about }),
  }
}

/** Makes the lines of a payout that is paid, or of one that is cancelled. */
function createPayouts(lines: AnyLine[], ledger: Ledger) {
  let payouts = 0
  return (uid: number, units: bigint, isPaid: boolean) => {
    const [id, time] = [++payouts, ledger.now()]
    const osn = `payout-${id}`
    const asked = {
      ...{ row: 'payout', id, version: 1, uid, cuy: 2, osn, amt: formatUnits(units, scale), fee: '1' },
      ...{ to_address: customer, contract: token, raw: String(units), mark: '', posted_by: 'shop', created_at: time },
      ...{ state: 'approved', changed_at: time, approved_by: '', approved_at: time, counted: 1 },
      ...{ attempts: 0, attempts_max: 3 },
    }
    const about = { id, uid, cuy: 2, amt: asked.amt, fee: asked.fee }
    lines.push(asked)
    ledger.entry(uid, 2, 2, -units, { osn, posted_by: 'shop' })
    ledger.entry(uid, 2, 4, -payoutFee, { osn, posted_by: 'shop' })
    ledger.event('payout.approved', uid, about)
    if (!isPaid) {
      lines.push({ ...asked, version: 2, state: 'cancelled', cancelled_by: 'shop', why: 'no' })
      ledger.entry(uid, 2, 5, units + payoutFee, { osn, posted_by: 'shop' })
      ledger.event('payout.cancelled', uid, about)
      return
    }
    const mined = { txid: hexOf('payout', id), expires_at: time, height: 50 + id }
    lines.push({
      ...{ row: 'transaction', id, version: 2, ...mined, address: payer, payout_id: id, bytes: '0a', reference: 1 },
      ...{ changed_at: time, succeeded: 1, moved: [], ended: 'paid', reported: 'paid', held_back: 0 },
    })
    lines.push({ ...asked, version: 3, state: 'paid', ...mined })
    ledger.event('payout.paid', uid, about)
  }
}

/** A story with one of everything. */
export function usualLines(): readonly AnyLine[] {
  const story = createStory()
  story.configure()
  for (const uid of [1, 2, 3]) story.address(uid)
  for (const step of [0, 1, 2, 3, 4, 5]) {
    story.tick()
    story.deposit(1 + (step % 3), 2, 30_000_000n + BigInt(step))
    story.deposit(1, 1, 5_000_000n)
    story.tick()
    story.transfer(1, 2, 1, 1_500_000n, `gift-${step}`)
    story.post(2, 1, 4, -250_000n, `order-${step}`)
    story.payout(1 + (step % 3), 4_000_000n, step % 2 === 0)
    story.post(3, 2, 9, 1n, `fix-${step}`)
    if (step % 2 === 1) story.complete()
  }
  return story.lines
}
