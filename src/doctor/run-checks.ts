import type { Config } from '../config/config.ts'
import { readFinalizedHead } from '../tron/quorum/finalized-head.ts'
import { checkAuth } from './check-auth.ts'
import { checkConfiguration } from './check-configuration.ts'
import { checkKey } from './check-key.ts'
import { checkNode } from './check-node.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'
import { checkToken } from './check-token.ts'
import { nodeMs } from './limits.ts'
import { type DoctorPlatform, type NodeUnderTest, nodesUnderTest, openPool } from './node-under-test.ts'
import type { ConfigurationSource } from './read-configuration.ts'

type ChainConfig = Pick<Config, 'chainId' | 'nodes' | 'quorum' | 'currencies'>

/** Every check of a configuration, line by line as they come. It reads, and changes nothing anywhere. */
export async function* runChecks(
  source: ConfigurationSource,
  machine: DoctorPlatform,
): AsyncGenerator<CheckResult, void> {
  const { faults, chain, auth } = checkConfiguration(source)
  yield passed(`read: ${source.origin}`)
  if (faults.length === 0) yield passed('configuration: every variable has a value that the service takes')
  yield* faults.map(failed)
  if (source.target.kind === 'deployment') {
    if (faults.length > 0)
      yield warned(`secrets of a deployment can’t be read back: put them into ${source.varsFile} or the environment`)
    yield checkDatabase(source.databaseId)
  }
  yield* checkKey(source.values.TRON_XPUB, chain?.chainId ?? null)
  if (auth !== null) yield* await checkAuth(machine, auth, source.target)
  if (chain === null) yield warned('nodes and tokens are checked once the configuration names them rightly')
  else yield* examineChain(machine, chain)
}

/** The id that wrangler.toml has before `wrangler d1 create`. */
function checkDatabase(id: string | null): CheckResult {
  if (id === null) return failed('database: wrangler.toml has no D1 database with the binding DB')
  if (!/[1-9a-f]/i.test(id)) {
    return failed('database: its database_id is a placeholder; `npx wrangler d1 create` gives the real one')
  }
  return passed('database: its id is set')
}

async function* examineChain(machine: DoctorPlatform, chain: ChainConfig): AsyncGenerator<CheckResult, void> {
  const patients = nodesUnderTest(chain)
  const pending = patients.map((patient) => checkNode(machine, patient, chain.chainId)) // all at once, told in order
  const usable: NodeUnderTest[] = []
  for (const [i, patient] of patients.entries()) {
    const examined = await pending[i]
    yield* examined?.results ?? []
    if (examined?.usable) usable.push(patient)
  }
  yield* checkQuorum(chain, usable.length)
  if (usable.length > 1 && usable.length >= chain.quorum) yield await checkAgreement(machine, chain, usable)
  if (chain.currencies.native !== null && chain.nodes.every(({ api }) => api === null)) {
    yield warned('TRX: no node has an HTTP API (api), so every TRX deposit waits: JSON-RPC can’t prove one')
  }
  if (usable.length === 0 && chain.currencies.byContract.size > 0) yield warned('tokens: no usable node to ask')
  else {
    for (const [contract, currency] of chain.currencies.byContract) {
      yield* await checkToken(machine, usable, chain.chainId, currency, contract)
    }
  }
}

function* checkQuorum({ nodes, quorum }: ChainConfig, usable: number): Generator<CheckResult, void> {
  if (usable < quorum) {
    const need = quorum === 1 ? 'one is needed' : `${quorum} must agree`
    yield failed(`quorum: ${usable} of ${nodes.length} nodes can be used and ${need}: nothing would be credited`)
  } else if (nodes.length === 1) yield warned('quorum: one node, trusted alone: name a second in TRON_NODES')
  else if (quorum === 1) yield warned(`quorum: each of the ${nodes.length} nodes is trusted alone (TRON_QUORUM)`)
  else yield passed(`quorum: ${quorum} of ${nodes.length} nodes must agree, ${usable} can be used`)
}

/** The newest final block by all usable nodes, as the service would agree on it. */
async function checkAgreement(
  machine: DoctorPlatform,
  chain: ChainConfig,
  patients: readonly NodeUnderTest[],
): Promise<CheckResult> {
  const pools = patients.map((patient) => openPool(machine, patient, chain.chainId, nodeMs))
  const [first] = pools
  if (first === undefined) return failed('agreement: no node')
  const [pool] = first
  const head = await readFinalizedHead({ ...pool, nodes: pools.map(([, node]) => node), quorum: patients.length })
  if (head.ok)
    return passed(`agreement: all ${patients.length} usable nodes name the same final block ${head.value.height}`)
  const why = head.error.kind === 'no-answer' ? `: ${head.error.why}` : ''
  return failed(`agreement: the usable nodes do not agree on a final block (${head.error.kind})${why}`)
}
