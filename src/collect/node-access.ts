import { err, ok, type Result } from '../common/result.ts'
import type { UnixMs } from '../common/time.ts'
import type { ChainConfig } from '../config/chain.ts'
import { noAlarms } from '../platform/alarms.ts'
import type { Clock } from '../platform/clock.ts'
import { createLogger } from '../platform/logger.ts'
import { createNodePool, createTronClient, type TronClientOptions } from '../tron/client.ts'
import { createNodeSelector, firstAnswer } from '../tron/nodes/failover.ts'
import { createNodeHealthStore } from '../tron/nodes/health.ts'
import { postJson } from '../tron/transport/http.ts'
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

/** The nodes of a deployment, at a polite rate. */
export interface CollectNodes {
  readonly chain: ChainConfig
  readonly platform: CollectPlatform
  /** Waits until the next request may be sent. Throws `StoppedError` once the command is stopped. */
  turn(): Promise<void>
  /** What the service's own client needs, for some of the nodes. */
  clientOptions(nodes: ChainConfig['nodes'], quorum: number): TronClientOptions
  /**
   * The JSON value of a reply of the HTTP API, from any node that has one. `parse` returns null for a value that is none of
   * the replies it knows. The error is one sentence without a URL.
   */
  post<T>(path: string, body: object, parse: (value: unknown) => T | null): Promise<Result<T, string>>
}

const requestsMax = 12

/** The nodes of `chain`, through the service's own transport: with its limits, its fail-over and its distrust. */
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
  const attempt = async <T>(path: string, body: object, parse: (value: unknown) => T | null) => {
    const pool = createNodePool(clientOptions(chain.nodes, 1))
    const nodes = pool.nodes.filter(({ endpoint }) => endpoint.api !== null)
    return firstAnswer(createNodeSelector(pool, 'api', 1, nodes), async ({ endpoint: { api, key }, allowance }) => {
      const reply = await postJson(pool.budget, { url: `${api}/wallet/${path}`, key }, JSON.stringify(body), allowance)
      if (!reply.ok) return reply
      const value = parse(reply.value)
      return value === null ? err({ kind: 'bad-answer', detail: `an unknown reply to ${path}` } as const) : ok(value)
    })
  }
  return {
    chain,
    platform,
    turn,
    clientOptions,
    async post(path, body, parse) {
      let why = ''
      for (let i = 0; i < attemptsOfRequest; i += 1) {
        if (i > 0) await clock.sleep(retryMs)
        await turn()
        const answer = await attempt(path, body, parse)
        if (answer.ok) return answer
        why = answer.error.kind === 'no-answer' ? answer.error.why : answer.error.kind
      }
      return err(`no node answered ${path} (${why})`)
    },
  }
}

/** The newest block that is final for a quorum of the nodes, as the service itself would see it. */
export async function readFinalHead(nodes: CollectNodes) {
  await nodes.turn()
  return createTronClient(nodes.clientOptions(nodes.chain.nodes, nodes.chain.quorum)).finalizedHead()
}
