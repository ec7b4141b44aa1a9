import { type RunningService, startService } from '../http/service.ts'
import { withSessions } from '../simulation/database.ts'
import { openSqliteD1 } from '../support/sqlite-d1.ts'
import { audits } from './audits.ts'

/**
 * Something that somebody does at the service: a tick, a request. It may be refused; it must not
 * crash.
 */
export type Act = (service: RunningService) => Promise<unknown>

export interface Contest {
  /** The service over the database of the contest. */
  readonly service: RunningService
  /**
   * Ends the preparation: each run begins with the state of this moment, and with what `later` does
   * then. `restore` puts the database back to before `later`, as Time Travel does.
   */
  begin(later?: Act): void
  /** Runs `act` alone. Returns the status of its answer; 200 if it has none. */
  alone(act: Act): Promise<number>
  /** A rival: the database becomes the older copy that it was when the contest began. */
  readonly restore: Act
  /**
   * Runs `act` once for each of its round trips to the database, with `rival` acting after that
   * one; then a tick of another isolate. Returns what was wrong in any run: a crash, an audit that
   * fails, or what `check` finds, which gets the first column of a query's rows.
   */
  run(act: Act, rival: Act, check?: (query: Query) => readonly string[]): Promise<readonly string[]>
}

type Query = (sql: string) => readonly unknown[]

/**
 * Starts a service in which a rival can act between any two round trips to the database. The
 * database is SQLite in this process, because it can be put back in a moment: each round trip of an
 * act has its rival.
 */
export async function startContest(variables: Record<string, unknown>): Promise<Contest> {
  const { sqlite, audit, plain, contested, watch } = openContested()
  const service = await startService(variables, { db: plain })
  const { clock, scannerHost, lines } = service
  let begun: { readonly seconds: number; readonly values: Map<string, unknown>; readonly later?: Act } | null = null

  const putBack = async () => {
    if (begun === null) throw new Error('the contest has not begun')
    sqlite.exec('ROLLBACK TO begun')
    scannerHost.values.clear()
    for (const [key, value] of begun.values) scannerHost.values.set(key, structuredClone(value))
    scannerHost.alarmAt = null
    clock.seconds = begun.seconds
    await begun.later?.(service.with({}))
    await service.settled()
    lines.length = 0
  }
  const query: Query = (sql) =>
    sqlite
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0])
  /**
   * Runs `act` in an isolate of its own with `rival` after the round trip `after`. Returns the
   * number of round trips, at least up to that one.
   */
  const perform = async (act: Act, rival: Act, after: number) => {
    await putBack()
    const actor = service.with({ DB: contested })
    let trips = 0
    watch(async () => {
      trips += 1
      if (trips !== after) return
      watch(null) // the rest of the act, and what the rival starts, goes on undisturbed
      await rival(withoutWaiting(service.with({})))
    })
    try {
      await act(actor)
      await actor.settled()
    } finally {
      watch(null)
    }
    return trips
  }
  const crashes = () => {
    const all = lines.filter((line) => (JSON.parse(line) as { event?: string }).event?.endsWith('-crashed'))
    return all.map((line) => line.slice(0, 400))
  }
  return {
    service,
    begin(later) {
      sqlite.exec('SAVEPOINT begun')
      begun = { seconds: clock.seconds, values: structuredClone(scannerHost.values), ...(later && { later }) }
    },
    restore: async () => sqlite.exec('ROLLBACK TO begun'),
    async alone(act) {
      await putBack()
      const result = await act(service.with({}))
      await service.settled()
      // safe: a response, or something else without a status
      const { status = 200 } = (result ?? {}) as { readonly status?: number }
      return status
    },
    async run(act, rival, check = () => []) {
      const faults: string[] = []
      for (let after = 1; ; after += 1) {
        const trips = await perform(act, rival, after)
        if (trips < after) return faults // the act has no such round trip
        const found = audit('at once')
        await service.with({}).tick()
        found.push(...audit('after a tick'), ...crashes(), ...check(query))
        faults.push(...found.map((fault) => `after round trip ${after}: ${fault}`))
      }
    },
  }
}

/** Runs `act` beside each of these rivals. Returns what was wrong, with the name of the rival. */
export async function faultsBeside(
  { run }: Contest,
  act: Act,
  rivals: readonly (readonly [name: string, rival: Act])[],
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [name, rival] of rivals) faults.push(...(await run(act, rival)).map((fault) => `${name} ${fault}`))
  return faults
}

/**
 * A database with two ways to it. After each round trip by `contested`, what `watch` was given is
 * waited for before the caller gets the result.
 */
function openContested() {
  const { sqlite, connect } = openSqliteD1()
  const audited = Object.entries(audits).map(([name, sql]) => [name, sqlite.prepare(sql)] as const)
  let onTrip: (() => Promise<unknown>) | null = null
  return {
    sqlite,
    plain: withSessions(connect(async (work) => work())),
    contested: withSessions(
      connect(async (work) => {
        try {
          return work()
        } finally {
          await onTrip?.()
        }
      }),
    ),
    watch(each: typeof onTrip) {
      onTrip = each
    },
    /** The audits that fail now, each with some of its rows. */
    audit: (when: string) =>
      audited.flatMap(([name, statement]) => {
        const rows = statement.all()
        return rows.length === 0 ? [] : [`${when}: ${name}: ${JSON.stringify(rows.slice(0, 3))}`]
      }),
  }
}

/**
 * The service for a rival, which waits for its own calls alone: what goes on in the background may
 * be the act that waits for the rival.
 */
function withoutWaiting(service: RunningService): RunningService {
  // safe: as `startService` has bound it
  const scanners = service.bindings.SCANNER as { getByName(name: string): { alarm(): Promise<void> } }
  return { ...service, tick: () => scanners.getByName('scanner').alarm(), settled: async () => undefined }
}
