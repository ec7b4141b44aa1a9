import { createSharedBlocks } from '../../src/worker/cells/shared-blocks.ts'
import type { Address } from '../../src/worker/chain/address.ts'
import { parseAddress } from '../../src/worker/chain/address.ts'
import { createScannerObject, type Platform } from '../../src/worker/compose.ts'
import { openSqliteD1, type SqliteD1 } from '../support/sqlite-d1.ts'
import { bearer, signHs256 } from '../support/tokens.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { otherXpubs, testSecret } from '../support/variables.ts'
import { withSessions } from './database.ts'
import type { Environment } from './environment.ts'
import { currentInvocation, type Invocation, type InvocationPorts } from './invocation.ts'
import { createNamespace, type ObjectCode, type ObjectNamespace } from './objects.ts'
import { payTrx } from './payments.ts'
import { createRandom, type Random } from './random.ts'
import type { NeighbourFate } from './scenario.ts'

/**
 * Another cell of the deployment, over the same nodes, with a database, a key, a scanner and users
 * of its own.
 */
export interface Neighbour {
  /** The bindings of the deployment with both cells. `own` are those with the first cell alone. */
  bindings(own: Readonly<Record<string, unknown>>): Record<string, unknown>
  /** Asks for an address for the only user of the other cell. */
  begin(fetch: (request: Request) => Promise<Response>): Promise<void>
  /** Queues a payment to the user of the other cell. */
  pay(): void
  /** Begins what the scenario lets happen to the other cell, or ends it if `isOver`. */
  suffer(isOver: boolean): void
  /**
   * Checks the other cell's ledger: it has one credit for every payment, and nothing of the first
   * cell. Returns the fault, or null.
   */
  audit(): string | null
}

const firstUser = 1_000_000_000
const uid = firstUser + 7
const payer = addressOf(0x2004)
const killedEveryMs = 7_000
const writing = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i

/**
 * Names the first cell in a request to `/ledger/…`, because a deployment with two cells needs a
 * cell in a request that names no user.
 */
export function inFirstCell(request: Request): Request {
  const url = new URL(request.url)
  if (!url.pathname.startsWith('/ledger/')) return request
  url.searchParams.set('cell', '1')
  return new Request(url, request)
}

/** The database of the other cell, whose round trips belong to the running invocation. */
function connectTo(
  store: SqliteD1,
  cell: {
    readonly env: Environment
    readonly random: Random
    readonly fate: NeighbourFate
    readonly suffers: () => boolean
  },
): D1Database {
  const { env, random, fate, suffers } = cell
  return withSessions(
    store.connect(async (work, statements) => {
      await currentInvocation().invocation.step()
      await env.scheduler.wait(random.int(1, 15))
      if (suffers() && fate === 'hanging') await new Promise(() => {}) // the trip to the database never returns
      if (suffers() && fate === 'full' && statements.some((sql) => writing.test(sql))) {
        throw new Error('D1_ERROR: Exceeded maximum DB size')
      }
      return work()
    }),
  )
}

/**
 * Checks the ledger of the other cell. `paid` is null if nothing need be credited because the scan
 * is halted. Returns the fault, or null.
 */
function auditOf({ sqlite }: SqliteD1, paid: bigint | null): string | null {
  const one = (sql: string) => Object.values(sqlite.prepare(sql).get() ?? {})[0]
  if (one(`SELECT count(*) FROM stored_address WHERE uid < ${firstUser}`) !== 0) {
    return 'the other cell has addresses of users of the first one'
  }
  if (one(`SELECT count(*) FROM transfer WHERE uid <> ${uid}`) !== 0) {
    return 'the other cell has transfers of users who are not its own'
  }
  const credited = one(`SELECT total(raw) FROM transfer WHERE state = 'credited'`)
  return paid === null || BigInt(Number(credited)) === paid
    ? null
    : `the other cell was paid ${paid}, and has credited ${credited}`
}

/**
 * Makes the other cell. It has random numbers of its own, so that it changes no draw of the first
 * cell.
 */
export function createNeighbour(
  env: Environment,
  fate: NeighbourFate,
  platform: Platform,
  connect: (invocation: Invocation) => InvocationPorts,
): Neighbour {
  const random = createRandom(1)
  const store = openSqliteD1()
  const own: Environment = Object.create(env, { random: { value: random } })
  const quietly = (invocation: Invocation): InvocationPorts => ({ ...connect(invocation), log: () => undefined })
  let suffers = false
  let address: Address | null = null
  let paid = 0n
  let bindings: Record<string, unknown> = {}
  const db = connectTo(store, { env, random, fate, suffers: () => suffers })
  const scanner = createNamespace(own, {
    name: 'neighbour',
    create: (host) => createScannerObject(platform, bindings, host, 'scanner DB_2') as unknown as ObjectCode,
    connect: quietly,
  })
  const blocks = createNamespace(own, {
    name: 'blocks',
    create: () => createSharedBlocks(platform.clock) as unknown as ObjectCode,
    connect: quietly,
  })
  const kill = () => {
    if (!suffers) return
    scanner.restart()
    env.scheduler.after(killedEveryMs, kill)
  }
  return {
    bindings({ TRON_XPUB, PAYOUTS, SCANNER, ENDPOINT, ...rest }) {
      const [first, nobody] = [SCANNER as ObjectNamespace, { wake: async () => undefined }]
      bindings = {
        ...rest,
        ...{ DB_2: db, KEY_1: TRON_XPUB, KEY_2: otherXpubs[0] },
        CELLS: [
          {
            db: 'DB',
            uids: `1-${firstUser - 1}`,
            xpub: 'KEY_1',
            ...(PAYOUTS === undefined ? {} : { payouts: PAYOUTS }),
          },
          { db: 'DB_2', uids: `${firstUser}-`, xpub: 'KEY_2' },
        ],
        SCANNER: { getByName: (name: string) => (name === 'scanner' ? first : scanner).getByName(name) },
        // The events of the other cell have no receiver.
        ENDPOINT: {
          getByName: (name: string) =>
            name.endsWith(' DB_2') ? nobody : (ENDPOINT as ObjectNamespace).getByName(name),
        },
        BLOCKS: blocks,
      }
      return bindings
    },
    async begin(fetch) {
      const claims = { sub: String(uid), exp: Math.floor(env.scheduler.now() / 1_000) + 3_600 }
      const headers = bearer(await signHs256(claims, testSecret))
      const response = await fetch(new Request('https://wallet.test/tron/generate', { headers }))
      const { data, msg } = (await response.json()) as { data?: { address: string }; msg: string }
      const parsed = parseAddress(data?.address ?? '')
      if (parsed.ok) address = parsed.value
      else env.violate(`the other cell issued no address: ${response.status} ${msg}`)
    },
    pay() {
      if (address === null) return
      const amount = BigInt(random.int(10, 1_000)) * 1_000_000n // no dust, whatever the scale
      env.queued.push(payTrx(payer, address, amount))
      paid += amount
    },
    suffer(isOver) {
      suffers = !isOver
      if (suffers && fate === 'halted') store.sqlite.exec(`UPDATE scan SET halted = 'block 2 does not follow block 1'`)
      if (suffers && fate === 'killed') kill()
    },
    audit: () => auditOf(store, fate === 'halted' ? null : paid),
  }
}
