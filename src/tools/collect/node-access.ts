import type { Header } from '../../chain/block.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { UnixMs } from '../../common/time.ts'
import type { ChainConfig } from '../../config/chain.ts'
import { noAlarms } from '../../platform/alarms.ts'
import type { Clock } from '../../platform/clock.ts'
import { createLogger } from '../../platform/logger.ts'
import { createNodePool, createTronClient, type TronClientOptions } from '../../tron/client.ts'
import { createNodeSelector, firstAnswer } from '../../tron/nodes/failover.ts'
import { createNodeHealthStore } from '../../tron/nodes/health.ts'
import { postJson } from '../../tron/transport/http.ts'
import { type ApiReadings, type AskNode, createApiReadings } from './agreed-replies.ts'
import { attemptsOfRequest, requestIntervalMs, requestLimitMs, retryMs } from './limits.ts'

/** What the commands use of this machine. */
export interface CollectPlatform {
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Ends a command between two requests. Nothing is lost: it can be run again. */
  readonly signal: AbortSignal
}

/** The command was stopped between two requests. */
export class StoppedError extends Error {}

/** The nodes of a deployment, at a limited rate. */
export interface CollectNodes extends ApiReadings {
  readonly chain: ChainConfig
  readonly platform: CollectPlatform
  /** Waits until the next request may be sent. Throws `StoppedError` once the command is stopped. */
  turn(): Promise<void>
  /** What the service's own client needs, for some of the nodes. */
  clientOptions(nodes: ChainConfig['nodes'], quorum: number): TronClientOptions
}

const requestsMax = 12

/** The nodes of `chain`, through the service's own transport: with its limits, its fail-over and its checks. */
export function openNodes(chain: ChainConfig, platform: CollectPlatform): CollectNodes {
  const { clock, fetch, signal } = platform
  const health = createNodeHealthStore()
  const logger = createLogger(() => {})
  let nextAt = 0
  const turn = async () => {
    if (signal.aborted) throw new StoppedError()
    const waitMs = nextAt - clock.now()
    if (waitMs > 0) await clock.sleep(waitMs)
    nextAt = clock.now() + requestIntervalMs
  }
  const clientOptions = (nodes: ChainConfig['nodes'], quorum: number): TronClientOptions => {
    const deadline = (clock.now() + requestLimitMs) as UnixMs // safe: a later time
    const { chainId, currencies } = chain
    const tokens = new Set(currencies.byContract.keys())
    const own = { health, logger, alarms: noAlarms, clock, fetch, deadline, requestsMax }
    return { nodes, chainId, quorum, tokens, ...own }
  }
  const ask: AskNode = async (node, path, body, parse) => {
    await turn()
    const pool = createNodePool(clientOptions([node], 1))
    return firstAnswer(createNodeSelector(pool, 'api'), async ({ endpoint: { api, key }, allowance }) => {
      const reply = await postJson(pool.budget, { url: `${api}/wallet/${path}`, key }, JSON.stringify(body), allowance)
      if (!reply.ok) return reply
      const value = parse(reply.value)
      return value === null ? err({ kind: 'bad-answer', detail: `an unknown reply to ${path}` } as const) : ok(value)
    })
  }
  const withApi = chain.nodes.map((node, i) => ({ ...node, number: i + 1 })).filter(({ api }) => api !== null)
  return {
    chain,
    platform,
    turn,
    clientOptions,
    ...createApiReadings(withApi, chain.quorum, ask, (ms) => clock.sleep(ms)),
  }
}

/** A final block. */
export type FinalHead = Pick<Header, 'height' | 'hash' | 'timestamp'>

/** The newest block that is final for a quorum of the nodes, as the service itself would see it. The error is one sentence. */
export async function readFinalHead(nodes: CollectNodes): Promise<Result<FinalHead, string>> {
  const { chain, platform } = nodes
  for (let i = 1; ; i += 1) {
    await nodes.turn()
    const head = await createTronClient(nodes.clientOptions(chain.nodes, chain.quorum)).finalizedHead()
    if (head.ok) return head
    const { error } = head
    if (i === attemptsOfRequest) return err(`no final block (${error.kind === 'no-answer' ? error.why : error.kind})`)
    await platform.clock.sleep(retryMs)
  }
}
