import type { RoundTrip } from '../support/sqlite-d1.ts'
import type { Environment } from './environment.ts'
import type { Invocation } from './invocation.ts'
import type { Random } from './random.ts'

/** The longest time that a tick takes, whatever it waits for, in milliseconds. */
export const tickLimitMs = 150_000
/** Most milliseconds of a slow trip to the database, in each direction. */
const slowTripMs = 60_000

/**
 * Makes the function by which one invocation of the Worker reaches the database. A round trip takes
 * time in both directions. It can fail before the first statement, between two statements, at the
 * commit, or after the commit. It can also hang for ever. If the database is full, writes fail. A
 * restore cancels what has not arrived, as D1's does (Cloudflare's documentation, Time Travel).
 * `onTrip` is called when the work of a trip is done.
 */
export function connectToDatabase(env: Environment, invocation: Invocation, onTrip: () => void): RoundTrip {
  const { random, scheduler, scenario, failures } = env
  const latency = () => {
    if (env.phase !== 'faults') return random.int(1, 15)
    if (random.chance(scenario.rates.slow)) {
      env.count('database: slow')
      const ms = random.int(1, slowTripMs)
      // who shares the read gives up before it ends
      if (ms > sharedMs) failures.at = Math.max(failures.at, scheduler.now() + ms)
      return ms
    }
    return random.int(1, random.chance(0.97) ? 15 : 3_000)
  }
  return async (work, statements, values) => {
    await invocation.step()
    const { restores } = env
    await scheduler.wait(latency())
    await waitForRival(env, invocation)
    if (env.restores !== restores) {
      env.count('database: cancelled')
      noteFailure(env, invocation)
      throw new Error('D1_ERROR: a restore has cancelled the query')
    }
    if (scheduler.now() < env.awayUntil) {
      env.count('database: away')
      await scheduler.wait(latency())
      noteFailure(env, invocation)
      invocation.databaseAway = true
      throw new Error(`D1_ERROR: ${env.hard.pick(awayErrors)}`)
    }
    const fault = env.phase === 'faults' && random.chance(scenario.rates.database) ? random.pick(faults) : null
    env.trace(() => `${invocation.name} → D1 ${statements.map(shorten).join('; ')} ${fault ?? ''}`)
    if (fault !== null) {
      env.count(fault)
      noteFailure(env, invocation)
    }
    if (fault === 'database: no answer') throw new Error('D1_ERROR: the database did not answer')
    if (env.hangsNext && invocation.kind === 'scanner alarm') {
      env.hangsNext = false
      env.count('database: no end')
      env.trace(() => `${invocation.name} waits for D1 for ever`)
      await new Promise(() => {})
    }
    const result = env.meter({ invocation, statements, values }, () =>
      isRefused(statements) ? refuse(work) : work(failingStatement(random, fault, statements)),
    )
    onTrip()
    await scheduler.wait(latency())
    await invocation.step()
    if (fault !== null) noteFailure(env, invocation)
    if (fault === 'database: answer lost after the commit') throw new Error('D1_ERROR: the answer was lost')
    return result

    /** Whether the database is full and the batch writes. A full database still answers reads. */
    function isRefused(all: readonly string[]) {
      return scheduler.now() < env.fullUntil && all.some((sql) => writing.test(sql))
    }

    function refuse(act: typeof work): never {
      env.count('database: full')
      noteFailure(env, invocation)
      const writes = [...statements.keys()].filter((i) => writing.test(statements[i] ?? ''))
      try {
        act(env.troubles.pick(writes))
      } catch {
        // The statements before the one that failed are rolled back.
      }
      throw new Error(`D1_ERROR: ${env.troubles.pick(fullErrors)}`)
    }
  }
}

const faults = [
  'database: no answer',
  'database: failure between two statements',
  'database: failure at the commit',
  'database: answer lost after the commit',
] as const
type DatabaseFault = (typeof faults)[number]

/**
 * The index of the statement before which the batch fails, or the number of statements if the
 * commit fails; undefined if nothing fails.
 */
function failingStatement(random: Random, kind: DatabaseFault | null, { length }: readonly string[]) {
  if (kind === 'database: failure between two statements') return random.int(0, length - 1)
  return kind === 'database: failure at the commit' ? length : undefined
}

const writing = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i

/** Notes that a trip of the invocation fails. */
function noteFailure(env: Environment, invocation: Invocation): void {
  invocation.platformFailed = true
  env.failures.at = Math.max(env.failures.at, env.scheduler.now())
}

/**
 * Within this time after the failure of a trip an invocation ends that has waited for it, because
 * it shares what the trip reads.
 */
const sharedMs = 1_000

/** What an invocation shares with one that was killed is given up within this time. */
const lostMs = 11_000

/**
 * Whether the platform can be why the invocation fails: one of its trips has failed, or one that it
 * may share has failed just now, takes too long, or belongs to an invocation that was killed.
 */
export function mayFail({ failures, scheduler }: Environment, { platformFailed, gaveUp }: Invocation): boolean {
  const now = scheduler.now()
  return platformFailed || now - failures.at < sharedMs || (gaveUp && now - failures.killedAt < lostMs)
}

/**
 * The error messages of D1 while a database is reset or moved (Cloudflare's documentation, Debug
 * D1).
 */
const awayErrors = [
  'D1 DB reset because its code was updated.',
  'D1 DB storage operation exceeded timeout which caused object to be reset.',
  'Internal error while starting up D1 DB storage caused object to be reset.',
  'Network connection lost.',
  'D1 DB is overloaded. Requests queued for too long.',
] as const

/**
 * The kinds of invocations between whose trips a rival may act: ticks, people's decisions, and
 * signers.
 */
const rivalled = new Set(['scanner alarm', 'payout', 'signer', 'post', 'order'])

/** At the rate of the scenario, something else happens before this trip, and ends before it. */
async function waitForRival(env: Environment, { kind }: Invocation): Promise<void> {
  const { rival, hard, scenario } = env
  if (rival === null || !rivalled.has(kind) || !hard.chance(scenario.hardships.rivals)) return
  env.rival = null // no rival has a rival of its own
  env.count(`rival of ${kind}`)
  await rival()
  env.rival = rival
}

/** The error messages of D1 and SQLite if the database is full. */
const fullErrors = ['Exceeded maximum DB size', 'database or disk is full: SQLITE_FULL'] as const

const shorten = (sql: string) => sql.trim().split(/\s+/).slice(0, 3).join(' ')

const databaseFault =
  /the database (did not answer|failed)|the answer was lost|maximum DB size|disk is full|has cancelled the query|D1 DB |Network connection lost/

/** Whether the text of an error has one that this file has thrown. */
export const isDatabaseFaultText = (text: string): boolean => databaseFault.test(text)

/**
 * Whether this file has thrown the error. An invocation may end with such an error, but with no
 * other.
 */
export function isDatabaseFault(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false
  // Drizzle wraps an error of the database in another error, as its `cause`.
  return isDatabaseFault(cause.cause) || databaseFault.test(cause.message)
}

/**
 * A database with D1's sessions. There are no read replicas: each session reads the primary. A
 * session starts at the primary, or at a bookmark that an earlier session of the same database had.
 */
export function withSessions(db: D1Database): D1Database {
  let sessions = 0
  const withSession = (start = 'first-unconstrained') => {
    const isOwnBookmark = /^[0-9a-f]{8}$/.test(start) && Number.parseInt(start, 16) <= sessions
    if (start !== 'first-primary' && !isOwnBookmark) throw new Error(`D1_ERROR: no session can start at ${start}`)
    sessions += 1
    const bookmark = sessions.toString(16).padStart(8, '0')
    return { ...db, getBookmark: () => bookmark }
  }
  return { ...db, withSession } as unknown as D1Database // safe: it has the part of D1 that the service uses
}
