import type { Address } from '../../chain/address.ts'
import type { Asset } from '../../chain/asset.ts'
import type { ChainResult } from '../../chain/chain.ts'
import type { ChainFailure } from '../../chain/failure.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { ChainConfig } from '../../config/chain.ts'
import { readBalances } from '../../tron/accounts.ts'
import { type Answer, type Answers, collect } from '../../tron/agreement.ts'
import { askApi } from '../../tron/ask.ts'
import type { Session, TronNode } from '../../tron/node.ts'
import { nodeError } from '../../tron/node-error.ts'
import { ToolError } from '../keys/terminal.ts'
import { atNode, type CommandPlatform, openPool, sessionOf } from '../node-pool.ts'
import { attemptsOfQuestion, lookMs, questionMs } from './limits.ts'

/** What the commands use of this machine. */
export interface CollectPlatform extends CommandPlatform {
  /** Ends a command between two requests. Nothing is lost: it can be run again. */
  readonly signal: AbortSignal
}

/** How the replies of several nodes become one value. */
export interface AgreedReading<T> {
  /** The value of a reply, or null where it is none of those that are known. */
  readonly parse: (reply: unknown) => T | null
  /** The value that is right where either of two replies is, or null where they contradict each other. */
  readonly merge: (a: T, b: T) => T | null
  /** The value where no quorum agrees. Without it the nodes are asked again, and then the command stops. */
  readonly otherwise?: T
}

/**
 * The nodes of a deployment, through the service's own transport and at its rate. No single one is trusted. Where too few answer,
 * each method tries several times and then throws a `ToolError` without a URL; also once the command is stopped.
 */
export interface CollectNodes {
  readonly clock: CollectPlatform['clock']
  /** What a quorum of the nodes replies to a request to their HTTP APIs. */
  agree<T>(path: string, body: object, reading: AgreedReading<T>): Promise<T>
  /** The replies of all nodes that answer: at least one. */
  postAll<T>(path: string, body: object, parse: AgreedReading<T>['parse']): Promise<readonly T[]>
  /** The newest balances of at most `balancesMax` addresses, each null where no quorum agrees: a block can come in between. */
  balances(addresses: readonly Address[], asset: Asset): Promise<readonly (bigint | null)[]>
  /** What the service itself reads from the chain. */
  read<T>(question: (session: Session) => ChainResult<T>): Promise<T>
}

/** The nodes of `chain`. */
export function openNodes(chain: ChainConfig, platform: CollectPlatform): CollectNodes {
  const { clock, signal } = platform
  const fetch: typeof globalThis.fetch = async (url, init) => {
    signal.throwIfAborted()
    return platform.fetch(url, init)
  }
  const { nodes, quorum } = chain
  const pool = openPool(chain, nodes, quorum, { clock, fetch })
  const repeat = <T>(ask: (session: Session) => Promise<Result<T, string>>) =>
    untilAnswered(platform, () => ask(sessionOf(pool, questionMs)))
  return {
    clock,
    agree: <T>(path: string, body: object, { parse, merge, otherwise }: AgreedReading<T>) =>
      repeat<T>(async (session) => {
        const most = (all: readonly Answer<T>[]) => Math.max(0, ...groupsOf(all, merge).map(({ count }) => count))
        const post = (node: TronNode) => askApi(session, node, `/wallet/${path}`, body, readWith(parse))
        const asked = await collect(session, 'api', post, (all) => quorum - most(all))
        const agreed = groupsOf(asked.answers, merge).find(({ count }) => count >= quorum)
        if (agreed !== undefined) return ok(agreed.value)
        if (asked.answers.length < quorum) return tooFew(asked, quorum, path)
        return otherwise === undefined ? err(`the nodes contradict each other about ${path}`) : ok(otherwise)
      }),
    postAll: (path, body, parse) =>
      repeat(async (session) => {
        const post = (node: TronNode) => askApi(session, node, `/wallet/${path}`, body, readWith(parse))
        const asked = await collect(session, 'api', post, (all) => nodes.length - all.length)
        return asked.answers.length === 0 ? tooFew(asked, 1, path) : ok(asked.answers.map(({ value }) => value))
      }),
    balances: (addresses, asset) =>
      repeat(async (session) => {
        const agreed = (all: readonly Answer<readonly bigint[]>[]) =>
          addresses.map((_, i) =>
            agreedOn(
              all.map(({ value }) => value[i]),
              quorum,
            ),
          )
        const read = (node: TronNode) => balancesAt(atNode(session, node), addresses, asset)
        const asked = await collect(session, 'rpc', read, (all) =>
          Math.max(quorum - all.length, agreed(all).includes(null) ? 1 : 0),
        )
        return asked.answers.length < quorum ? tooFew(asked, quorum, 'with balances') : ok(agreed(asked.answers))
      }),
    read: (question) =>
      repeat(async (session) => {
        const answer = await question(session)
        return answer.ok ? answer : err(describe(answer.error))
      }),
  }
}

const describe = (failure: ChainFailure) => (failure.kind === 'no-answer' ? `no answer: ${failure.why}` : failure.kind)

function readWith<T>(parse: (reply: unknown) => T | null) {
  return (reply: unknown) => {
    const value = parse(reply)
    return value === null ? nodeError('bad-answer', 'an unknown reply') : ok(value)
  }
}

async function balancesAt(session: Session, addresses: readonly Address[], asset: Asset) {
  const read = await readBalances(session, addresses, asset)
  return read.ok ? read : nodeError('unreachable', describe(read.error))
}

/** Repeats a question until it is answered. */
async function untilAnswered<T>(
  { clock, signal }: CollectPlatform,
  once: () => Promise<Result<T, string>>,
): Promise<T> {
  for (let i = 1; ; i += 1) {
    const result = signal.aborted ? err('') : await once()
    if (result.ok) return result.value
    if (signal.aborted) throw new ToolError('stopped at the terminal')
    if (i === attemptsOfQuestion) throw new ToolError(result.error)
    await clock.sleep(lookMs)
  }
}

function tooFew<T>({ answers, errors }: Answers<T>, needed: number, what: string) {
  const why =
    [...errors].map(([{ number }, { detail }]) => `node ${number}: ${detail.replace(/^node \d+: /, '')}`).join('; ') ||
    'they rest after failures'
  return err(
    answers.length === 0 ? `no node answered ${what} (${why})` : `fewer than ${needed} nodes answered ${what} (${why})`,
  )
}

/** The replies that fit together, merged. */
function groupsOf<T>(
  answers: Answers<T>['answers'],
  merge: AgreedReading<T>['merge'],
): readonly { readonly value: T; readonly count: number }[] {
  const groups: { value: T; count: number }[] = []
  for (const { value } of answers) {
    for (const group of groups) {
      const merged = merge(group.value, value)
      if (merged !== null) Object.assign(group, { value: merged, count: group.count + 1 })
    }
    groups.push({ value, count: 1 })
  }
  return groups
}

function agreedOn(values: readonly (bigint | undefined)[], quorum: number): bigint | null {
  return values.find((value) => value !== undefined && values.filter((one) => one === value).length >= quorum) ?? null
}
