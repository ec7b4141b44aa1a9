import { expect, it } from 'vitest'
import { addressIn, payFinal, type RunningService, requestsOf, startService, usdtTo } from '../http/service.ts'
import { tickLater } from '../scan/harness.ts'
import {
  ask,
  handIn,
  mined,
  mineFinal,
  passBlocks,
  payoutsSetting,
  sign,
  signedPayout,
  startPaying,
  stateOfPayout,
} from './harness.ts'

/** The same service over a database that notes each statement that is sent to it. */
function noting(service: RunningService, variables: Record<string, unknown>) {
  const statements: string[] = []
  const note = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
    sqlOf.set(statement, sql)
    return new Proxy(statement, {
      get(target, name: keyof D1PreparedStatement) {
        if (name === 'bind') return (...values: unknown[]) => note(target.bind(...values), sql)
        if (['all', 'run', 'raw', 'first'].includes(name)) statements.push(sql)
        const member = target[name] as (...values: unknown[]) => unknown
        return member.bind(target)
      },
    })
  }
  return { statements, note, service, variables }
}
const sqlOf = new WeakMap<object, string>()

/** The statements and the requests to nodes of some ticks with a deposit among them. */
async function costOf(variables: Record<string, unknown>, before: (service: RunningService) => Promise<unknown>) {
  const service = await startService(variables)
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  const own = await addressIn(await service.get('/tron/generate'))
  await service.tick()
  await before(service)
  const statements: string[] = []
  const database = {
    prepare: (sql: string) => {
      statements.push(sql.replaceAll(/\s+/g, ' '))
      return service.db.prepare(sql)
    },
    batch: (list: D1PreparedStatement[]) => service.db.batch(list),
    withSession: () => database,
  }
  const counted = service.with({ DB: database })
  await tickLater(counted, 60) // what a new instance reads once
  statements.length = 0
  const requests = requestsOf(service)
  await tickLater(counted, 20)
  payFinal(service, usdtTo(own, 5_000_000n))
  await tickLater(counted, 60)
  await tickLater(counted, 20)
  return { statements, requests: requestsOf(service) - requests }
}
