import type { DatabaseSync } from 'node:sqlite'
import { correctionSql, rescanSql } from '../../src/commands/operate/repair.ts'
import { requestMisconfigured } from './callers/refused.ts'
import { forgetDecisions } from './decisions.ts'
import { askLostOrders } from './orders.ts'
import { askAgain } from './payout-calls.ts'
import { isLacking } from './payouts.ts'
import { postAgain } from './posts.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** The operator of the service, who repairs, restores and configures it while it runs. */
export interface Operator {
  /**
   * Does one thing at random, such as a restore; nothing outside of the faulty phase, or before the
   * first scan.
   */
  act(): void
  /** Sets `TRON_FIRST_INDEX`, if the run has lost an earlier database. */
  setFirstIndex(): void
  /**
   * Ends what lasts: forgets the copy, sets `TRON_FIRST_INDEX` if necessary, and accepts a retired
   * currency again.
   */
  end(): void
}

/** Makes the operator of a run, who has no copy of the database at first. */
export function createOperator(run: SimulatedRun): Operator {
  const { env, stored } = run
  const { random } = env
  let hasCopy = false
  const forgetCopy = () => {
    if (hasCopy) removeCopy(run)
    hasCopy = false
  }
  const copyOrRestore = () => {
    if (hasCopy) return restore(run)
    hasCopy = true
    makeCopy(run)
  }
  const acts = [
    () => requestRescan(run),
    () => requestRescan(run),
    () => {
      // the correction also changes addresses: those that an older copy lacks could not be inserted
      // again unchanged
      forgetCopy()
      correct(run)
    },
    ...[copyOrRestore, copyOrRestore],
    () => retire(run),
    () => unlistOperator(run),
    () => void run.misconfigured(random.chance(0.5) ? null : requestMisconfigured),
  ]
  return {
    act() {
      // Before the first scan the database is empty, so there is nothing to repair or restore.
      const isPossible = env.phase === 'faults' && stored.scan() !== undefined && stored.countSettings() > 0
      if (isPossible) random.pick(acts)()
    },
    setFirstIndex: () => setFirstIndex(run),
    end() {
      forgetCopy()
      setFirstIndex(run)
      if (env.retired.size > 0) retire(run)
    },
  }
}

/** Makes a copy of the database that `restore` puts back. */
export const makeCopy = ({ repair: change }: SimulatedRun): void => change((sqlite) => sqlite.exec('SAVEPOINT copy'))
/** Removes the copy that `makeCopy` has made. */
export const removeCopy = ({ repair: change }: SimulatedRun): void => change((sqlite) => sqlite.exec('RELEASE copy'))

/**
 * Runs an SQL statement of `npm run operate`, with the virtual time of the run in place of the
 * machine's.
 */
function repair({ env, repair: change }: SimulatedRun, statement: string): void {
  const sql = statement.replace(/CAST\(.*?INTEGER\)/, String(env.scheduler.now()))
  env.trace(() => `OPERATOR ${sql}`)
  change((sqlite) => sqlite.exec(sql))
}

/** Asks for a rescan: the service must read some scanned blocks again. */
export function requestRescan(run: SimulatedRun): void {
  const { env, stored } = run
  const position = stored.scan()?.height ?? 0
  const lowest = Math.max(env.chain.firstHeight, position - 40)
  if (lowest > position) return
  const from = env.random.int(lowest, position)
  repair(run, rescanSql(from, env.random.int(from, position), 'simulation'))
  env.count('operator: rescan')
}

/** Lowers the finalized height, as if a wrong one had been stored. */
function correct(run: SimulatedRun): void {
  const height = (run.stored.scan()?.finalized ?? 0) - run.env.random.int(1, 8)
  if (height >= run.env.chain.firstHeight) correctTo(run, height)
}

/** Lowers the finalized height to this one. */
export function correctTo(run: SimulatedRun, height: number): void {
  repair(run, correctionSql(height, 'simulation'))
  run.env.count('operator: correction')
}

/**
 * Stops the service, puts the copy of the database back, and inserts the addresses that were issued
 * after the copy was made. Deposits that were credited since must be credited again, each once.
 * Backends post again what they have posted since.
 */
export function restore(run: SimulatedRun): void {
  const { env, stored } = run
  env.trace(() => 'OPERATOR restores the copy')
  env.restores += 1
  // the copy may be older than the stored entry of the operator's wallet, so the deployment must
  // list the wallet
  env.listsOperator = true
  if (env.scenario.payouts?.losesSetting === true) env.paysOut = false
  run.repair((sqlite) => {
    const issued = sqlite.prepare('SELECT * FROM stored_address ORDER BY id').all()
    sqlite.exec('ROLLBACK TO copy')
    insertAddresses(sqlite, issued.slice(stored.addressesFrom(0).length))
    if (stored.countEndpoints() === 0) run.endpoints.forget()
  })
  run.deploy()
  postAgain(run)
  forgetDecisions(run)
  askLostOrders(run)
  if (env.payouts !== null) {
    if (isLacking(env, env.payouts)) env.payouts.lackingSince = env.scheduler.now()
    askAgain(run, env.payouts)
  }
  env.count('operator: restored database')
}

/**
 * Tries to store other decimals of a token, as after a wrong configuration. The database must
 * refuse this while payouts of the token are open, because their amounts are stored in chain units
 * by the old decimals. An accepted change is undone.
 */
export function tryDecimals({ env, stored, repair: change }: SimulatedRun, cuy: number): void {
  const isOpen = stored.payouts().some((one) => one.cuy === cuy && one.state !== 'paid' && one.state !== 'cancelled')
  change((sqlite) => {
    sqlite.exec('SAVEPOINT decimals')
    try {
      const sql = `UPDATE stored_currency SET decimals = decimals + 10 WHERE cuy = ${cuy}`
      const { changes } = sqlite.prepare(sql).run()
      if (isOpen && changes > 0)
        env.violate(`the decimals of currency ${cuy} were changed while payouts of it are open`)
      env.count('operator: decimals changed')
    } catch {
      env.count(`operator: decimals refused${isOpen ? ' while payouts are open' : ''}`)
    }
    sqlite.exec('ROLLBACK TO decimals')
    sqlite.exec('RELEASE decimals')
  })
}

function insertAddresses(sqlite: DatabaseSync, rows: readonly Record<string, unknown>[]): void {
  for (const row of rows) {
    const names = Object.keys(row)
    const insert = sqlite.prepare(`INSERT INTO stored_address (${names}) VALUES (${names.map(() => '?')})`)
    // safe: columns of STRICT tables have no other types
    insert.run(...(Object.values(row) as (string | number | Uint8Array)[]))
  }
}

/**
 * Deploys with the lowest address index that the lost database had not issued as
 * `TRON_FIRST_INDEX`.
 */
function setFirstIndex({ env: { lost, trace, count }, deploy }: SimulatedRun): void {
  if (lost === null || lost.isSet) return
  lost.isSet = true
  deploy()
  trace(() => `OPERATOR deploys with TRON_FIRST_INDEX ${lost.firstIndex}`)
  count('operator: first index set')
}

/** Deploys with a retired currency, or accepts the retired currency again. */
function retire({ env, deploy }: SimulatedRun): void {
  env.retired = new Set(env.retired.size > 0 ? [] : [env.random.int(1, 3)])
  env.retiredAt = env.scheduler.now()
  deploy()
  env.trace(() => `OPERATOR deploys with ${[...env.retired].join() || 'nothing'} retired`)
  env.count(env.retired.size > 0 ? 'operator: currency retired' : 'operator: currency accepted again')
}

/**
 * Deploys without the operator's wallet in `OPERATOR_ADDRESSES`. What the wallet has sent before
 * must still be no deposit.
 */
function unlistOperator({ env, stored, deploy }: SimulatedRun): void {
  if (!env.listsOperator || stored.countOperators() === 0) return
  env.listsOperator = false
  deploy()
  env.count('operator: own wallet unlisted')
}
