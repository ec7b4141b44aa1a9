import type { Txid } from '../../src/worker/chain/block.ts'
import type { Uid } from '../../src/worker/common/ids.ts'
import { readBalance } from './callers/balance.ts'
import { checkTransaction } from './callers/check-transaction.ts'
import { generate } from './callers/generate.ts'
import { readHealth } from './callers/health.ts'
import { listEntries, listWallets } from './callers/lists.ts'
import { recharge } from './callers/recharge.ts'
import { requestUnauthorized } from './callers/refused.ts'
import type { Environment } from './environment.ts'
import type { SimulatedRun } from './simulated-run.ts'

/** A source of requests: it remembers how many further addresses each caller has asked for. */
export interface Requests {
  /** Starts one or several requests of any kind. */
  startAny(run: SimulatedRun): void
}

/**
 * Makes the source of requests of one run, in which no caller has asked for a further address yet.
 */
export function createRequests(): Requests {
  const freshCount = new Map<Uid, number>()
  return {
    startAny(run) {
      const { random } = run.env
      const uid = drawUid(run.env)
      const kind = random.int(1, 14)
      if (kind <= 3) {
        const fresh = random.chance(0.3)
        for (let copies = random.chance(0.1) ? 3 : 1; copies > 0; copies -= 1) {
          void run.request('generate', (client) => generate(client, uid, fresh, freshCount))
        }
      } else if (kind <= 6) {
        void run.request('recharge', (client) => recharge(client, uid))
      } else if (kind === 7) {
        for (let callers = random.int(3, 6); callers > 0; callers -= 1) {
          const other = drawUid(run.env)
          void run.request('recharge', (client) => recharge(client, other))
        }
      } else if (kind <= 10) {
        const txid = drawTxid(run.env, uid)
        void run.request('transaction', (client) => checkTransaction(client, uid, txid))
      } else {
        void startRead(run, uid, random.int(1, 9))
      }
    },
  }
}

/** Starts a request that only reads. `kind`, from 1 to 9, chooses its route. */
export function startRead(run: SimulatedRun, uid: Uid, kind: number): Promise<void> {
  if (kind <= 2) return run.request('wallets', (client) => listWallets(client, uid))
  if (kind <= 4) return run.request('entries', (client) => listEntries(client, uid))
  if (kind <= 6) return run.request('balance', (client) => readBalance(client, uid))
  if (kind <= 8) return run.request('health', readHealth)
  return run.request('unauthorized', requestUnauthorized)
}

/** Draws the uid of a caller. */
export function drawUid({ random, scenario }: Environment): Uid {
  return random.int(1, scenario.users) as Uid // safe: the users have the numbers from 1 to `users`
}

/** A transaction to ask about: mostly one that pays the caller. */
export function drawTxid({ random, transfers, sent, owners, chain }: Environment, uid: Uid): Txid {
  const own = [...transfers.values(), ...sent.values()].filter(({ to }) => owners.get(to) === uid)
  if (own.length > 0 && random.chance(0.6)) return random.pick(own).txid
  const block = chain.at(chain.tip().height - random.int(0, 30))
  const transactions = block?.transactions ?? []
  if (transactions.length > 0 && random.chance(0.9)) return random.pick(transactions).txid
  return random
    .int(0, 2 ** 31)
    .toString(16)
    .padStart(64, '0') as Txid // safe: 64 hex digits
}
