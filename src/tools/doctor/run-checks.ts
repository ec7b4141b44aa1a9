import { authSchema, backendAuthSchema } from '../../config/auth.ts'
import { type ChainConfig, chainSchema } from '../../config/chain.ts'
import { parseConfig } from '../../config/config.ts'
import { type Bindings, parseBindings } from '../../config/schemas.ts'
import { explainPending } from '../../deposits/explain.ts'
import { createNodeHealthStore } from '../../tron/nodes/health.ts'
import { readFinalizedHead } from '../../tron/quorum/finalized-head.ts'
import { checkAuth, checkBackendAuth } from './check-auth.ts'
import { checkKey } from './check-key.ts'
import { checkNode } from './check-node.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'
import { checkOperators, checkStored, type StoredSettingsConfig } from './check-stored.ts'
import { checkToken } from './check-token.ts'
import { checkWebhooks } from './check-webhooks.ts'
import { type DoctorPlatform, type NodeAccess, type NodeUnderTest, nodeMs, openPool } from './node-under-test.ts'
import type { ConfigurationSource } from './read-configuration.ts'

/** Only the platform binds the database; the checks read it through `readStored`. */
const database = { prepare: () => null, batch: () => null }

const databaseResults: Readonly<Record<ConfigurationSource['database'], CheckResult>> = {
  set: passed('database: database_id is set'),
  placeholder: failed('database: database_id is a placeholder; `npx wrangler d1 create` prints the real one'),
  missing: failed('database: wrangler.toml has no D1 database with the binding DB'),
}

/**
 * All checks of a configuration, in order. They only read, here and at the nodes; where `sendsTests`, each endpoint of `WEBHOOKS`
 * gets a test event.
 */
export async function* runChecks(
  source: ConfigurationSource,
  platform: DoctorPlatform,
  sendsTests = false,
): AsyncGenerator<CheckResult, void> {
  const { values, isDeployment } = source
  const config = parseConfig({ ...values, DB: database })
  // A fault in another part of the configuration does not matter to these.
  const chain = parseBindings(chainSchema, values)
  const auth = parseBindings(authSchema, values)
  const backendAuth = parseBindings(backendAuthSchema, values)
  yield passed(`configuration: read from ${source.origin}`)
  if (config.ok) yield passed('configuration: every variable is valid')
  else yield* config.error.map((fault) => failed(isSet(values, fault) ? fault : `${fault} (it is not set)`))
  if (isDeployment && !config.ok) {
    const { varsFile } = source
    yield warned(`configuration: the platform does not return secrets; set them in ${varsFile} or the environment`)
  }
  if (isDeployment) yield databaseResults[source.database]
  yield* checkKey(values.TRON_XPUB, chain.ok ? chain.value.chainId : null)
  if (auth.ok) yield* checkAuth(auth.value, isDeployment, platform.fetch)
  if (backendAuth.ok) yield* checkBackendAuth(backendAuth.value, platform.fetch)
  if (config.ok) yield* checkOperators(config.value, isDeployment)
  if (config.ok) yield* checkWebhooks(config.value.webhooks, platform, sendsTests)
  const hasDatabase = !isDeployment || source.database === 'set'
  if (chain.ok) yield* checkChain(platform, chain.value, config.ok && hasDatabase ? config.value : null)
  else yield warned('nodes and tokens: skipped until the configuration is valid')
}

/** Whether the variable at the start of a fault has a value. */
function isSet(values: Bindings, fault: string): boolean {
  return (values[fault.split(/[.:]/)[0] ?? ''] ?? '') !== ''
}

/** `stored` is null where there is nothing to compare with stored data. */
async function* checkChain(
  platform: DoctorPlatform,
  chain: ChainConfig,
  stored: StoredSettingsConfig | null,
): AsyncGenerator<CheckResult, void> {
  const access: NodeAccess = { ...platform, chainId: chain.chainId, health: createNodeHealthStore() }
  const nodes = chain.nodes.map((node, i) => ({ ...node, number: i + 1 }))
  const all = nodes.map(async (node) => ({ node, ...(await checkNode(access, node)) }))
  const usable: NodeUnderTest[] = []
  // All nodes are checked at the same time, and reported in order.
  for await (const { node, results, isUsable } of all) {
    yield* results
    if (isUsable) usable.push(node)
  }
  yield checkQuorum(chain, usable.length)
  if (usable.length > 1 && usable.length >= chain.quorum) yield await checkAgreement(access, usable)
  if (stored !== null) yield* checkStored(stored, platform.readStored, access, usable)
  const { native, byContract, list } = chain.currencies
  for (const { symbol, cuy, retired } of list) {
    if (retired) yield passed(`currency ${symbol} (${cuy}): retired, so that what arrives is kept, uncredited`)
  }
  if (native !== null && chain.nodes.every(({ api }) => api === null)) {
    yield warned(explainPending('no-api'))
  }
  if (usable.length === 0 && byContract.size > 0) yield warned('tokens: skipped, because no node is usable')
  for (const [contract, currency] of byContract) yield* checkToken(access, usable, currency, contract)
}

function checkQuorum({ nodes, quorum }: ChainConfig, usable: number): CheckResult {
  if (usable < quorum) {
    return failed(`quorum: ${usable} of ${nodes.length} nodes are usable, ${quorum} needed: nothing would be credited`)
  }
  if (nodes.length === 1) return warned('quorum: one node alone decides what is credited; add a second to TRON_NODES')
  if (quorum === 1) return warned(`quorum: each of ${nodes.length} nodes alone decides what is credited (TRON_QUORUM)`)
  return passed(`quorum: ${quorum} of ${nodes.length} nodes must agree, ${usable} are usable`)
}

/** Reads the finalized head as the service does, with all usable nodes as the quorum. */
async function checkAgreement(access: NodeAccess, nodes: readonly NodeUnderTest[]): Promise<CheckResult> {
  const head = await readFinalizedHead(openPool(access, nodes, nodeMs))
  if (head.ok) return passed(`agreement: all ${nodes.length} usable nodes have final block ${head.value.height}`)
  const why = head.error.kind === 'no-answer' ? `: ${head.error.why}` : ''
  return failed(`agreement: the usable nodes do not agree on a final block (${head.error.kind})${why}`)
}
