import { err, ok } from '../../worker/common/result.ts'
import { dayMs } from '../../worker/common/time.ts'
import { authSchema, backendAuthSchema } from '../../worker/config/auth.ts'
import { type ChainConfig, chainSchema } from '../../worker/config/chain.ts'
import type { Config } from '../../worker/config/config.ts'
import { parseBindings } from '../../worker/config/schemas.ts'
import { tickRequests } from '../../worker/tron/allowance.ts'
import type { Pool, TronNode } from '../../worker/tron/node.ts'
import { parseSources } from '../cells.ts'
import { type ConfigurationSource, isSet } from '../configuration.ts'
import type { ReadStored } from '../database.ts'
import { type CommandPlatform, openPool } from '../node-pool.ts'
import type { Place } from '../place.ts'
import { openForReading, type QueryRows } from '../reading-database.ts'
import { findCellDifferences } from '../stored-differences.ts'
import { notSet } from './advice.ts'
import { checkFeeLimit } from './check-fee-limit.ts'
import { type CheckedNode, checkNode, findBehind, nameOf } from './check-node.ts'
import { checkPayouts } from './check-payouts.ts'
import {
  type CheckResult,
  checkAuth,
  checkDesk,
  checkKey,
  checkKeys,
  checkWebhooks,
  failed,
  passed,
  warned,
} from './check-settings.ts'
import { checkOperators, checkStored, checkToken, type StoredParts } from './check-stored.ts'
import { checkMigrations, checkVersion } from './check-version.ts'

/** What the checks use of this machine: clock, network and the database. */
export interface DoctorPlatform extends CommandPlatform {
  readonly readStored: ReadStored
  /** Reads the database of a cell. */
  readonly readRows: (place: Place) => QueryRows
}

const daySeconds = dayMs / 1_000

/** Checks that the database of a deployment has been created. */
function checkDatabase({ database, place }: Pick<ConfigurationSource, 'database' | 'place'>): CheckResult {
  switch (database) {
    case 'set':
      return passed('database: database_id is set')
    case 'placeholder':
      return failed('database: database_id is a placeholder; `npx wrangler d1 create` prints the real one')
    case 'missing':
      return failed(`database: wrangler.toml has no D1 database with the binding ${place.binding}`)
  }
}

/**
 * Runs all checks of a configuration, in order. They only read, except that with `sendsTests` each
 * endpoint of `WEBHOOKS` gets a test event. `urls` are the addresses of the deployment.
 */
export async function* runChecks(
  source: ConfigurationSource,
  platform: DoctorPlatform,
  sendsTests = false,
  urls: readonly string[] = [],
): AsyncGenerator<CheckResult, void> {
  const { values, all, isDeployment, place } = source
  const cells = parseSources(source)
  const own = cells.ok ? cells.value.find(({ cell }) => cell.number === (place.cell?.number ?? null)) : undefined
  const config = cells.ok && own !== undefined ? ok(own.cell.config) : err(cells.ok ? [] : cells.error)
  // These checks run even if another part of the configuration has a fault.
  const chain = parseBindings(chainSchema, values)
  const auth = parseBindings(authSchema, values)
  const backendAuth = parseBindings(backendAuthSchema, values)
  yield passed(`configuration: read from ${source.origin}`)
  if (config.ok) yield passed('configuration: every variable is valid')
  else yield* config.error.map((fault) => failed(isSet(all, fault) ? fault : `${fault} ${notSet}`))
  if (isDeployment && !config.ok) {
    const { varsFile, origin } = source
    const file = origin.includes(varsFile) ? varsFile : `${varsFile} (copy .dev.vars.example)`
    yield warned(`configuration: the platform does not return secrets; set them in ${file} or the environment`)
  }
  if (isDeployment) yield checkDatabase(source)
  for (const fault of source.objectFaults) yield failed(`objects: wrangler.toml has ${fault}`)
  if (source.objectFaults.length === 0) yield passed('objects: SCANNER and ENDPOINT are bound, with their classes')
  yield* checkKey(values.TRON_XPUB, chain.ok ? chain.value.chainId : null)
  if (auth.ok) yield* checkAuth(auth.value, isDeployment, platform.fetch)
  if (backendAuth.ok) yield* checkKeys('backends', backendAuth.value, platform.fetch)
  if (config.ok && config.value.deskAccess !== null) yield await checkDesk(config.value.deskAccess, platform.fetch)
  if (config.ok) yield* checkOperators(config.value, isDeployment)
  if (config.ok && !config.value.issuesAddresses) {
    yield warned('addresses: no new one is issued (ISSUE_ADDRESSES is off); remove it once a restore is complete')
  }
  if (config.ok) yield* checkWebhooks(config.value.webhooks, platform, sendsTests)
  const hasDatabase = !isDeployment || source.database === 'set'
  // `config` has the share of this cell in the nodes' allowances, and `chain` has them whole.
  const checked = config.ok ? config : chain
  const open = (one: Place) => openForReading(platform.readRows(one))
  const stored: StoredParts = {
    readStored: platform.readStored,
    findDifferences: async ({ settings }) =>
      cells.ok && own !== undefined ? findCellDifferences(own, cells.value, settings, open) : [],
    checkMigrations: (data) => checkMigrations(source, data),
  }
  if (checked.ok) yield* checkChain(platform, checked.value, config.ok && hasDatabase ? config.value : null, stored)
  else yield warned('nodes and tokens: skipped until the configuration is valid')
  if (config.ok && hasDatabase && config.value.payouts !== null) {
    yield* checkPayouts(config.value.payouts, config.value.currencies, open(place))
  }
  if (isDeployment || urls.length > 0) yield await checkVersion(urls, platform)
}

/**
 * Checks the nodes, and, with the usable ones, the quorum, the stored data and the tokens. `config`
 * is null if the stored data cannot be compared.
 */
async function* checkChain(
  platform: DoctorPlatform,
  chain: ChainConfig,
  config: Config | null,
  stored: StoredParts,
): AsyncGenerator<CheckResult, void> {
  const pool = openPool(chain, platform)
  const all = pool.nodes.map((node) => checkNode(pool, chain.chainId, node))
  const checked: CheckedNode[] = []
  // All nodes are checked at the same time, and reported in order.
  for await (const one of all) {
    yield* one.results
    yield checkAllowance(one.node, config?.scanEverySeconds ?? null)
    checked.push(one)
  }
  const behind = await findBehind(pool, checked)
  yield* behind.values()
  const nodes = checked.flatMap(({ node, newest }) => (newest === null || behind.has(node) ? [] : [node]))
  const usable: Pool = { ...pool, nodes, quorum: nodes.length }
  yield checkQuorum(chain, nodes.length)
  if (config !== null) yield* checkStored(config, stored, usable)
  const { byContract, list } = chain.currencies
  for (const { symbol, cuy, retired } of list) {
    if (retired) yield passed(`currency ${symbol} (${cuy}): retired, so that what arrives is kept, uncredited`)
  }
  if (nodes.length === 0 && byContract.size > 0) yield warned('tokens: skipped, because no node is usable')
  for (const [contract, currency] of nodes.length === 0 ? [] : byContract) {
    yield* checkToken(usable, currency, contract)
    if (config !== null && config.payouts !== null) yield* checkFeeLimit(usable, config.payouts, currency, contract)
  }
}

/** Warns if the scan alone can take more than half of the requests that a node allows in a day. */
function checkAllowance(node: TronNode, scanEverySeconds: number | null): CheckResult {
  const { perSecond, perDay } = node.endpoint
  const text = `${nameOf(node)}: allows ${perSecond} requests a second and ${perDay} a day`
  const needed = Math.ceil(daySeconds / (scanEverySeconds ?? daySeconds)) * tickRequests
  if (needed * 2 <= perDay) return passed(`${text} (perSecond, perDay)`)
  return warned(`${text} (perDay), and scanning takes up to ${needed}: raise SCAN_EVERY_SECONDS, or get a larger plan`)
}

function checkQuorum({ nodes, quorum }: ChainConfig, usable: number): CheckResult {
  if (usable < quorum) {
    return failed(`quorum: ${usable} of ${nodes.length} nodes are usable, ${quorum} needed: nothing would be credited`)
  }
  if (nodes.length === 1) {
    return warned('quorum: one node alone decides what is credited; add two of other providers to TRON_NODES')
  }
  if (quorum === 1) return warned(`quorum: each of ${nodes.length} nodes alone decides what is credited (TRON_QUORUM)`)
  const text = `quorum: ${quorum} of ${nodes.length} nodes must agree, ${usable} are usable`
  if (quorum < nodes.length) return passed(text)
  return warned(`${text}: while one is away nothing is credited; with one more in TRON_NODES any one can be away`)
}
