import type { DatabaseSync } from 'node:sqlite'
import { bytesToHex } from '@noble/hashes/utils.js'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { threeCells, users } from '../cells/three-cells.ts'
import {
  addressIn,
  finalityLag,
  oneEndpoint,
  payFinal,
  type RunningService,
  startService,
  testNodes,
  usdtTo,
} from '../http/service.ts'
import { mined, payoutsSetting } from '../payouts/harness.ts'
import { correctBoth, startTwoSigned } from '../payouts/two-transactions.ts'
import { noise, tickFor, tickLater } from '../scan/harness.ts'
import { acting, deprecate } from '../scan/issuer-acts.ts'
import type { Block } from '../simulation/chain.ts'
import { payingWith } from '../simulation/defects.ts'
import type { Environment } from '../simulation/environment.ts'
import { variablesOf } from '../simulation/isolate.ts'
import { createSimulation } from '../simulation/run.ts'
import { payoutAddress } from '../support/payouts.ts'
import { addressOf } from '../support/transaction-spec.ts'
import { otherXpubs, testXpub } from '../support/variables.ts'
import {
  chainStartMs,
  copyDatabase,
  type Deployment,
  type OpenDatabase,
  openDatabase,
  setClock,
  stop,
} from './deployment.ts'
import { tellStory } from './story.ts'

/** All deployments of a fixture. */
export async function makeDeployments(): Promise<readonly Deployment[]> {
  return [await tellStory(), await payLate(), await runCells(), ...(await simulate())]
}

const scannersOf = ['scanner', 'scanner DB_2', 'scanner DB_3']

/**
 * A transaction that has paid late, one that no payout names, a token with a successor, and events
 * that were removed.
 */
async function payLate(): Promise<Deployment> {
  const database = openDatabase(chainStartMs)
  const { service, height, first, right } = await startTwoSigned(300, { db: database.db })
  database.now = () => service.clock.seconds * 1000
  right.add([noise(1), mined(first)])
  right.addEmpty(finalityLag + 3)
  await correctBoth({ service, height, right })
  await tickLater(service, 60)
  right.add([{ kind: 'trx', from: payoutAddress, to: addressOf(4), amount: 1n }, acting(deprecate(addressOf(71)))])
  right.addEmpty(finalityLag)
  await tickLater(service, 60)
  const keeping = service.with({ EVENTS_KEEP_DAYS: '7' })
  keeping.clock.seconds += 8 * 86_400
  await keeping.post([{ uid: 7, cuy: 1, type: 5, osn: 'later', amt: '1' }])
  await tickFor(keeping, 120)
  return stop('late', keeping, { DB: database.sqlite })
}

/** Three cells, of which the second one has payouts. */
async function runCells(): Promise<Deployment> {
  const [DB, DB_2, DB_3] = [1, 2, 3].map(() => openDatabase(chainStartMs)) as [OpenDatabase, OpenDatabase, OpenDatabase]
  const opened = { DB, DB_2, DB_3 }
  const [first, second, third] = threeCells
  const variables = {
    ...{ DB_2: opened.DB_2.db, DB_3: opened.DB_3.db, KEY_1: testXpub, KEY_2: otherXpubs[0], KEY_3: otherXpubs[1] },
    CELLS: [first, { ...second, payouts: payoutsSetting }, third],
    ...oneEndpoint,
  }
  const service = await startService(variables, { db: opened.DB.db })
  service.clock.seconds = service.chain.tip().timeMs / 1000 + 3
  for (const one of Object.values(opened)) one.now = () => service.clock.seconds * 1000
  const tickAll = async () => {
    service.clock.seconds += 60
    for (const scanner of scannersOf) await service.tick(scanner)
  }
  const addresses = []
  for (const uid of users) addresses.push(await addressIn(await service.get('/tron/generate', uid)))
  await tickAll()
  payFinal(service, ...addresses.map((to, i) => usdtTo(to, BigInt(20 + i) * 1_000_000n)))
  await tickAll()
  for (const uid of users) {
    const order = { uid, cuy: 2, amt: '5', order: `tea-${uid}` }
    await send(service, '/ledger/entries', { entries: [{ uid, cuy: 2, type: 4, osn: `tea-${uid}`, amt: '-1' }] })
    await send(service, '/ledger/orders', { orders: [order] })
  }
  const payout = { uid: users[1], cuy: 2, amt: '3', to: formatBase58(addressOf(60)), osn: 'payout-of-cells' }
  await send(service, '/ledger/payouts', { payouts: [payout] })
  await service.deliver()
  await tickAll()
  const databases = Object.fromEntries(Object.entries(opened).map(([name, { sqlite }]) => [name, sqlite]))
  return stop('cells', service, databases)
}

async function send(service: RunningService, path: string, body: object): Promise<void> {
  const response = await service.send(path, body)
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
  await service.settled()
}

/** Runs of the simulation in the middle of all that happens, by their seeds and last blocks. */
const runs = [
  { seed: 11, blocks: 25 },
  { seed: 14, blocks: 45 },
] as const

async function simulate(): Promise<readonly Deployment[]> {
  const run = createSimulation()
  const stopped: Deployment[] = []
  for (const { seed, blocks } of runs) {
    const beside = (env: Environment, { sqlite }: { readonly sqlite: DatabaseSync }) => {
      setClock(sqlite, () => env.scheduler.now())
      return async () => {
        stopped.push({
          name: `simulated-${seed}`,
          nowMs: env.scheduler.now(),
          variables: variablesOf(env, testNodes),
          databases: { DB: copyDatabase(sqlite) },
          objects: {},
          nodes: nodesOf(env),
          bucket: null,
        })
      }
    }
    const overrides = { ...payingWith(rich), blocks: 60, blocksBefore: 2 }
    const { violation, height } = await run(seed, { overrides, until: 70_000_000 + blocks, beside })
    if (violation !== null) throw new Error(`seed ${seed} breaks a promise at ${height}: ${violation}`)
  }
  return stopped
}

/** Much of everything happens. */
const rich = { payouts: { failing: 0.3, asked: 0.5 }, orders: { asked: 0.8 }, issuer: 0.5, sending: 0.3, reviews: true }

/** What nodes show that have the chain of the run. They have no balances. */
function nodesOf({ chain, scenario }: Environment): Deployment['nodes'] {
  const { firstHeight } = chain
  const heights = Array.from({ length: chain.tip().height - firstHeight + 1 }, (_, i) => firstHeight + i)
  const blockOf = ({ height, hash, parentHash, seconds, transactions }: Block) => ({
    ...{ height, hash, parentHash, timeMs: seconds * 1000 },
    transactions: transactions.map(({ txid, rawData, failed, logs, internals }) => {
      const rawHex = bytesToHex(rawData)
      return {
        txid,
        rawHex,
        result: failed ? 'REVERT' : 'SUCCESS',
        logs,
        ...(internals.length > 0 ? { internals } : {}),
      }
    }),
  })
  const blocks = heights.flatMap((height) => chain.at(height) ?? []).map(blockOf)
  return { firstHeight, blocks, finalityLag: scenario.finalityLag, balances: {}, decimals: {} }
}
