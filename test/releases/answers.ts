import { addressFromHex, formatBase58 } from '../../src/worker/chain/address.ts'
import { documentedOperations } from '../../src/worker/http/openapi/document.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { backendSecret, testSecret } from '../support/variables.ts'
import type { Deployment } from './deployment.ts'
import type { Reply, Stage } from './stage.ts'

/** A GET request, or a call over Workers RPC. */
export interface Asked {
  /** A user, or the name of a backend. */
  readonly as: number | string
  /** The path with its query; of a call `RPC`, the method, and the arguments as JSON. */
  readonly path: string
}

export interface Answer extends Asked, Reply {}

/** Asks these requests, one after the other. */
export async function askAll(stage: Stage, requests: readonly Asked[]): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (const { as, path } of requests) {
    answers.push({ as, path, ...(await stage.send(as, path)) })
    await stage.settled()
  }
  return answers
}

/** The header of a user or a backend with all scopes, for the next ten minutes. */
export async function tokenOf(as: number | string, nowMs: number): Promise<{ authorization: string }> {
  const exp = Math.floor(nowMs / 1000) + 3_000
  if (typeof as === 'number') return bearer(await signHs256({ sub: String(as), exp }, testSecret))
  const scope = 'ledger:read ledger:post ledger:pay ledger:approve ledger:sign'
  return bearer(await signHs256({ sub: as, exp, scope }, backendSecret))
}

/** Parameters with which a request waits for something to happen. */
const waits = ['wait', 'mark']
/** Routes that ask nodes, and so can store something: they are asked last. */
const reachesNodes = /^\/(tron\/(balance|recharge|generate)|ledger\/(transaction|address)\b)/

/**
 * Requests to every documented GET route: alone, and with each parameter and each of its values of
 * which the deployment has something.
 */
export function listRequests(deployment: Deployment): readonly Asked[] {
  const all = Object.entries(deployment.databases).flatMap(([, db], index, { length }) => {
    const values = valuesOf(deployment, db)
    const ofCell = length === 1 ? '' : `cell=${index + 1}`
    return documentedOperations().flatMap(({ method, path, operation: { parameters = {}, query } }) => {
      if (method !== 'get') return []
      const needed = Object.keys(parameters).filter(
        (name) => query?.shape[name]?.safeParse(undefined).success === false,
      )
      const valuesFor = (name: string) => wordsOf(query?.shape[name]) ?? values(path, name)
      const firstOf = (name: string) => `${name}=${valuesFor(name)[0] ?? ''}`
      const bases = 'uid' in parameters && !needed.includes('uid') ? ['', firstOf('uid')] : ['']
      const queries = bases.flatMap((base) => [
        base,
        ...Object.keys(parameters)
          .filter((name) => !waits.includes(name) && !base.startsWith(`${name}=`))
          .flatMap((name) => valuesFor(name).map((value) => [base, `${name}=${encodeURIComponent(value)}`].join('&'))),
      ])
      const isOfBackends = path.startsWith('/ledger/')
      const callers = isOfBackends ? ['shop'] : values(path, 'uid').map(Number)
      return callers.flatMap((as) =>
        queries.map((own) => {
          const others = needed.filter((name) => !own.includes(`${name}=`)).map(firstOf)
          const cell = isOfBackends && !/(^|&)uid=/.test([...others, own].join('&')) ? ofCell : ''
          const text = [...others, own, cell]
            .flatMap((one) => one.split('&'))
            .filter((one) => one !== '')
            .join('&')
          return { as, path: text === '' ? path : `${path}?${text}` }
        }),
      )
    })
  })
  const isLate = ({ path }: Asked) => reachesNodes.test(path)
  const unique = [...new Map(all.map((one) => [`${one.as} ${one.path}`, one])).values()]
  return [...unique.filter((one) => !isLate(one)), ...listCalls(deployment), ...unique.filter(isLate)]
}

/** Calls of each reading method of Workers RPC, for each user and each database. */
function listCalls(deployment: Deployment): readonly Asked[] {
  return Object.values(deployment.databases).flatMap((db, index) => {
    const users = valuesOf(deployment, db)('', 'uid').map(Number)
    const cell = { cell: index + 1 }
    const calls: readonly (readonly [method: string, ...given: readonly unknown[]])[] = [
      ['events', 0, 100, cell],
      ['checkpoint', cell],
      ['orders', cell],
      ['payouts', cell],
      ...users.flatMap((uid) => [
        ['entries', { uid }] as const,
        ['wallets', uid] as const,
        ['address', uid] as const,
        ['orders', { uid }] as const,
        ['payouts', { uid }] as const,
      ]),
    ]
    return calls.map(([method, ...given]) => ({ as: 'shop', path: `RPC ${method} ${JSON.stringify(given)}` }))
  })
}

/** The words that a parameter allows; null if it is no list of words. */
function wordsOf(schema: unknown): readonly string[] | null {
  const { entries, innerType } = (schema as Schema)._zod.def
  const words = entries ?? innerType?._zod.def.entries
  return words === undefined ? null : Object.keys(words)
}
interface Schema {
  readonly _zod: {
    readonly def: { readonly entries?: Readonly<Record<string, string>>; readonly innerType?: Schema }
  }
}

const usersMax = 4

/** Values of a parameter of which a database has something. */
function valuesOf({ nowMs, variables }: Deployment, db: Deployment['databases'][string]) {
  const select = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => String(Object.values(row)[0]))
  const base58 = (hex: string) => {
    const address = addressFromHex(hex)
    return address === null ? '' : formatBase58(address)
  }
  const timeOf = (ms: number) => new Date(ms).toISOString()
  const dayMs = 86_400_000
  const middle = (table: string) => select(`SELECT coalesce(max(id) / 2, 1) FROM ${table}`)
  const owned = select(`SELECT address FROM address WHERE uid < 9007199254740991 ORDER BY id LIMIT 3`).map(base58)
  const [one = ''] = owned
  const known: Readonly<Record<string, readonly string[]>> = {
    uid: select(`SELECT DISTINCT uid FROM address WHERE uid < 9007199254740991 ORDER BY uid LIMIT ${usersMax}`),
    cuy: (variables.CURRENCIES as readonly { cuy: number }[]).map(({ cuy }) => String(cuy)),
    txid: [
      ...select('SELECT min(txid) FROM transfer GROUP BY state, reason, review'),
      ...select('SELECT txid FROM payout_transaction ORDER BY id LIMIT 8'),
      'ab'.repeat(32),
    ],
    address: [...owned, base58('ab'.repeat(20))],
    order: select('SELECT reference FROM payment_order ORDER BY id'),
    osn: select('SELECT osn FROM payout ORDER BY id LIMIT 3'),
    type: ['1', '2', '3', '4', '5', '9'],
    page: ['1', '2'],
    limit: ['1', '3'],
    before: middle('last_event'),
    after: ['0', ...middle('last_event')],
    wid: select('SELECT id FROM wallet ORDER BY id LIMIT 3'),
    from: [timeOf(nowMs - dayMs)],
    to: [timeOf(nowMs - dayMs / 2)],
    month: [timeOf(nowMs).slice(0, 7)],
    day: [nowMs - dayMs, nowMs].map((ms) => timeOf(ms).slice(0, 10)),
    begin: [one.slice(0, 6)],
    end: [one.slice(-5)],
    '/ledger/payouts to': select('SELECT DISTINCT to_address FROM payout LIMIT 2').map(base58),
    '/ledger/entries osn': select('SELECT DISTINCT osn FROM flow ORDER BY id LIMIT 4'),
    '/wallet/flow/list osn': select('SELECT DISTINCT osn FROM flow ORDER BY id LIMIT 4'),
  }
  return (path: string, name: string): readonly string[] => {
    const values = known[`${path} ${name}`] ?? known[name]
    if (values === undefined) throw new Error(`which values of ${name} shall ${path} be asked for?`)
    return values
  }
}
