import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { type AlarmKind, alarmTable, unobservedKinds } from '../../src/worker/platform/alarm-table.ts'
import { archive, startArchived } from '../archive/harness.ts'
import {
  addressFrom,
  addressIn,
  firstAddress,
  oneEndpoint,
  payFinal,
  postInit,
  type RunningService,
  secondAddress,
  startService,
  usdtTo,
} from '../http/service.ts'
import { alarmsOf, retiredUsdt, tickFor, tickLater, usdtWith, withAddress } from '../scan/harness.ts'
import { act, deprecate, fee, freeze, pause, release, unpause } from '../scan/issuer-acts.ts'
import { addressOf, type LogSpec, usdtAddress } from '../support/transaction-spec.ts'
import { usdtBase58 } from '../support/variables.ts'
import { payoutDrives } from './payout-drives.ts'
import { type Drive, scanDrives } from './scan-drives.ts'

const hourS = 3_600
const dayS = 86_400

/**
 * An address with a deposit of 5 USDT. To provoke the alarm the nodes show the balance `wrong`; the
 * alarm ends with the recorded balance, and with a difference of the opposite sign.
 */
async function withBalance(wrong: bigint): Promise<Drive> {
  const { service, own } = await withAddress()
  const show = async (units: bigint) => {
    for (const node of service.nodes) node.balances.set(`${usdtAddress} ${own}`, units)
    service.clock.seconds += dayS
    await tickFor(service, 36 * 60, () => service.chain.addEmpty(60), 180)
  }
  await service.tick()
  payFinal(service, usdtTo(own, 5_000_000n))
  await show(5_000_000n)
  return {
    service,
    provoke: () => show(wrong),
    ends: [() => show(5_000_000n), () => show(10_000_000n - wrong)],
  }
}

/** The alarm is raised by an issuer's log `first`, and ended by each of the logs in `then`. */
async function withActs(service: RunningService, first: LogSpec, ...then: readonly LogSpec[]): Promise<Drive> {
  await service.tick()
  return { service, provoke: () => act(service, first), ends: then.map((log) => () => act(service, log)) }
}

/**
 * A service whose endpoint accepts one event and then refuses the next for `seconds`. The alarm
 * ends if the endpoint accepts an event or is removed from the configuration; `more` adds other
 * ways to end it.
 */
async function withRefusingEndpoint(seconds: number, more: readonly ((service: RunningService) => unknown)[] = []) {
  const service = await startService({ ...oneEndpoint, EVENTS_KEEP_DAYS: '7' })
  let orders = 0
  const happen = async (status: number) => {
    service.hookAnswer.status = status
    service.clock.seconds += hourS * 2 // by then the next attempt is due
    orders += 1
    await service.post([{ uid: 7, cuy: 2, type: 5, osn: `order-${orders}`, amt: '1' }])
    await service.deliver()
  }
  const provoke = async () => {
    await service.tick()
    await happen(204)
    await happen(503)
    await tickLater(service, seconds)
  }
  const accept = async () => {
    await happen(204)
    await tickLater(service)
  }
  const remove = () => tickLater(service.with({ WEBHOOKS: undefined }))
  return { service, provoke, ends: [accept, remove, ...more.map((end) => () => end(service))] }
}

/** The real database, but each result says that the database has `bytes()` bytes. */
function sized(db: D1Database, bytes: () => number): unknown {
  type Inner = D1PreparedStatement & { readonly inner: D1PreparedStatement }
  const say = <T>(result: D1Result<T>) => ({ ...result, meta: { ...result.meta, size_after: bytes() } })
  const wrap = (inner: D1PreparedStatement): Inner => {
    const all = async <T>() => say(await inner.all<T>())
    return { inner, bind: (...values: unknown[]) => wrap(inner.bind(...values)), all, run: all } as unknown as Inner
  }
  const batch = async (list: readonly Inner[]) => (await db.batch(list.map(({ inner }) => inner))).map(say)
  const wrapped = { prepare: (sql: string) => wrap(db.prepare(sql)), batch }
  return { ...wrapped, withSession: () => ({ ...wrapped, getBookmark: () => null }) }
}

/**
 * A database that reports the size `grown` in bytes, which raises the alarm, and then the size
 * `shrunk`, which ends it.
 */
async function withSize(grown: number, shrunk: number): Promise<Drive> {
  const service = await startService()
  let bytes = 1
  const larger = service.with({ DB: sized(service.db, () => bytes) })
  const become = (size: number) => async () => {
    bytes = size
    await tickLater(larger)
  }
  return { service: larger, provoke: become(grown), ends: [become(shrunk)] }
}

/** The type demands a drive for each kind of alarm in `alarmTable`. */
const drives: Readonly<Record<AlarmKind, () => Promise<Drive>>> = {
  ...scanDrives,
  ...payoutDrives,
  async 'decimals-differ'() {
    const { service: before } = await withAddress()
    const trx = { cuy: 1, symbol: 'TRX', decimals: 6 }
    const usdt = { cuy: 2, symbol: 'USDT', contract: usdtBase58, decimals: 6 }
    const other = { cuy: 3, symbol: 'OTHER', contract: formatBase58(addressOf(3)), decimals: 6 }
    const service = before.with({ CURRENCIES: [trx, usdt, other] })
    for (const node of service.nodes) node.decimals.delete(usdtAddress)
    // one for each alarm: nodes are never asked again for decimals that they agreed on
    const contracts = [addressOf(3), usdtAddress]
    let [contract = usdtAddress] = contracts
    const show = async (decimals: number) => {
      for (const node of service.nodes) node.decimals.set(contract, decimals)
      await tickLater(service, hourS)
    }
    const provoke = () => {
      contract = contracts.shift() ?? contract
      return show(18)
    }
    const retire = (one: object) => ({ ...one, retired: true })
    const configure = (...list: object[]) => tickLater(service.with({ CURRENCIES: [trx, ...list] }))
    const ends = [() => show(6), () => configure(retire(usdt), other), () => configure(other)]
    return { service, provoke, ends }
  },
  async 'deposit-too-large'() {
    const { service, own } = await withAddress()
    payFinal(service, usdtTo(own, BigInt(Number.MAX_SAFE_INTEGER)))
    await service.tick()
    let orders = 0
    const provoke = async () => {
      payFinal(service, usdtTo(own, 1_000_000n))
      await tickFor(service, 40)
      orders += 1
      await service.post([{ uid: 7, cuy: 2, type: 2, osn: `w${orders}`, amt: '-1' }])
      await tickLater(service)
    }
    return { service, provoke, ends: [] }
  },
  async 'review-overdue'() {
    const { service, own } = await withAddress({ CURRENCIES: usdtWith({ reviewFrom: '0' }) })
    const held: string[] = []
    const provoke = async () => {
      held.push(...payFinal(service, usdtTo(own, 1_000_000n)))
      await tickLater(service)
      await tickLater(service, hourS + 20)
    }
    const decide = async (decision: string) => {
      const deposits = held.splice(0).map((txid) => ({ txid, position: 0, decision, why: 'looked at' }))
      expect((await service.ledger('/ledger/deposits/decide', postInit({ deposits }))).status).toBe(200)
      await tickLater(service)
    }
    return { service, provoke, ends: [() => decide('credit'), () => decide('refuse')] }
  },
  async 'paid-before-issue'() {
    const { service } = await withAddress()
    const [txid = ''] = payFinal(service, usdtTo(addressFrom(secondAddress), 5_000_000n))
    await service.tick()
    expect(await addressIn(await service.get('/tron/generate', 8))).toBe(addressFrom(secondAddress))
    return { service, provoke: () => service.get(`/tron/recharge?txid=${txid}`, 8), ends: [] }
  },
  async 'address-frozen'() {
    const { service, own } = await withAddress()
    return withActs(service, freeze(own), release(own))
  },
  async 'token-paused'() {
    const { service } = await withAddress()
    return withActs(service, pause, unpause)
  },
  async 'token-fee-set'() {
    const { service } = await withAddress()
    const { provoke, ends } = await withActs(service, fee(10n, 5n), fee(0n, 0n))
    const confirm = async () => {
      const sql = `UPDATE issuer_act SET confirmed_at = 1, confirmation = 'known' WHERE confirmed_at IS NULL AND raw <> '0'`
      await service.db.prepare(sql).run()
      await tickLater(service)
    }
    return { service, provoke, ends: [...ends, confirm] }
  },
  async 'token-deprecated'() {
    const { service } = await withAddress()
    const { provoke } = await withActs(service, deprecate(addressOf(71)))
    return { service, provoke, ends: [() => tickLater(service.with({ CURRENCIES: retiredUsdt }))] }
  },
  'reconciliation-shortfall': () => withBalance(4_000_000n),
  'reconciliation-surplus': () => withBalance(6_000_000n),
  async 'configuration-differs'() {
    const { service } = await withAddress()
    const provoke = () => tickLater(service.with({ TRON_CHAIN_ID: '0xcd8690dc' }))
    return { service, provoke, ends: [() => tickLater(service)] }
  },
  async 'key-was-used'() {
    const service = await startService()
    for (const node of service.nodes) node.activated.add(firstAddress)
    const set = () => tickLater(service.with({ TRON_FIRST_INDEX: '1' }))
    return { service, provoke: () => service.with({}).get('/tron/generate'), ends: [set] }
  },
  async misconfigured() {
    const service = await startService()
    const provoke = () => service.with({ TRON_XPUB: 'xpub' }).get('/health', null)
    return { service, provoke, ends: [() => service.with({}).get('/health', null)] }
  },
  'database-filling': () => withSize(7_000_000_000, 6_900_000_000),
  'database-nearly-full': () => withSize(9_000_000_000, 8_900_000_000),
  'endpoint-failing': () => {
    const setAside = async (service: RunningService) => {
      service.clock.seconds += 3 * dayS
      await service.deliver()
      await tickLater(service)
    }
    return withRefusingEndpoint(hourS, [setAside])
  },
  'endpoint-behind': () => withRefusingEndpoint(600),
  'events-expiring': () => {
    const expire = (service: RunningService) => tickFor(service, 60, () => (service.clock.seconds += dayS))
    const keep = (service: RunningService) => tickLater(service.with({ EVENTS_KEEP_DAYS: '30' }))
    return withRefusingEndpoint(5.7 * dayS, [expire, keep])
  },
  async 'event-set-aside'() {
    const { service, provoke: refuse } = await withRefusingEndpoint(0)
    const provoke = async () => {
      await refuse()
      service.clock.seconds += 3 * dayS
      await service.deliver()
    }
    return { service, provoke, ends: [] }
  },
  async 'archive-behind'() {
    let isAway = false
    const put = async (...given: Parameters<R2Bucket['put']>) => {
      if (isAway) throw new Error('R2 is away')
      return env.ARCHIVE_BUCKET.put(...given)
    }
    const service = await startArchived({}, { put: put as unknown as R2Bucket['put'] })
    let orders = 0
    const archiveFor = async (seconds: number, away: boolean) => {
      isAway = away
      orders += 1
      await service.post([{ uid: 7, cuy: 2, type: 5, osn: `order-${orders}`, amt: '1' }])
      for (let i = 0; i < seconds; i += 60) await archive(service)
    }
    const remove = () => tickLater(service.with({ ARCHIVE: undefined }))
    return { service, provoke: () => archiveFor(1_300, true), ends: [() => archiveFor(60, false), remove] }
  },
}

/**
 * How many alarms of a kind are stored as raised. `misconfigured` cannot be stored: the database is
 * part of what is wrong.
 */
async function raisedRows({ db }: RunningService, kind: AlarmKind): Promise<number> {
  const count = await db
    .prepare('SELECT count(raised_at) AS n FROM alarm WHERE kind = ?1')
    .bind(kind)
    .first<number>('n')
  return kind === 'misconfigured' ? 0 : (count ?? 0)
}

describe('every kind of alarm of the table', () => {
  it('is provoked and ended here', () => {
    expect(new Set(Object.keys(drives))).toEqual(new Set(Object.keys(alarmTable)))
  })

  it.each(Object.keys(drives) as AlarmKind[])(
    '%s is raised once, ends as the table says, and is raised anew',
    async (kind) => {
      const { service, provoke, ends } = await (drives[kind] as () => Promise<Drive>)()
      const isStored = kind === 'misconfigured' ? 0 : 1
      expect([alarmsOf(service, kind), await raisedRows(service, kind)]).toEqual([[], 0])
      const quiet = async () => {
        await tickLater(service, hourS / 2)
        expect(await raisedRows(service, kind)).toBe(isStored)
        await tickLater(service, hourS)
      }
      expect(ends.length === 0).toBe(unobservedKinds.has(kind))
      const all = ends.length === 0 ? [quiet] : ends
      for (const [i, end] of [...all, ...all.slice(0, 1)].entries()) {
        await provoke()
        expect([alarmsOf(service, kind).length, await raisedRows(service, kind)]).toEqual([i + 1, isStored])
        await end()
        expect([alarmsOf(service, kind).length, await raisedRows(service, kind)]).toEqual([i + 1, 0])
      }
    },
  )
})
