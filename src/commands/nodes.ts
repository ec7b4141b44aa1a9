import { isDeepStrictEqual } from 'node:util'
import type { Address } from '../worker/chain/address.ts'
import type { Asset } from '../worker/chain/block.ts'
import type { ChainResult } from '../worker/chain/chain.ts'
import { err, ok, type Result } from '../worker/common/result.ts'
import { readBalances } from '../worker/tron/accounts.ts'
import { type Answers, collect } from '../worker/tron/agreement.ts'
import { askApi } from '../worker/tron/ask.ts'
import type { NodeService, Session, TronNode } from '../worker/tron/node.ts'
import { type NodeResult, nodeError } from '../worker/tron/node-errors.ts'
import { atNode, type CommandPlatform, openPool, type PooledChain, sessionOf } from './node-pool.ts'
import { ToolError } from './tool-error.ts'

/** Time limit of one query to the nodes, in milliseconds. */
const questionMs = 20_000
/** A command stops after this many attempts of a query, with `lookMs` between them. */
const attemptsOfQuestion = 12
/** Milliseconds between attempts, and between two looks at the chain: one block. */
export const lookMs = 3_000

/** A platform on which the person can stop a command. */
export interface StoppablePlatform extends CommandPlatform {
  /** Stops a command between two requests. Nothing is lost: the command can be run again. */
  readonly signal: AbortSignal
}

/** How the replies of several nodes become one value. */
export interface AgreedReading<T> {
  /** The value of a reply, or undefined if the reply has an unknown form. */
  readonly parse: (reply: unknown) => T | undefined
  /**
   * Merges two replies into a value that is right if at least one of the replies is right.
   * Undefined if the replies contradict each other.
   */
  readonly merge: (a: T, b: T) => T | undefined
  /**
   * The value if no quorum agrees. Without this function the nodes are asked again, and after
   * `attemptsOfQuestion` attempts the command stops.
   */
  readonly otherwise?: (values: readonly T[]) => T
  /** A value in words. If nodes contradict each other, the error names the value of each. */
  readonly describe?: (value: T) => string
}

/**
 * The nodes of a deployment, asked through the service's own transport and at its rate. No single
 * node is trusted. If too few nodes answer, each method tries several times and then throws a
 * `ToolError` without a URL. If the command is stopped, it throws a `ToolError` at once.
 */
export interface AgreedNodes {
  readonly clock: StoppablePlatform['clock']
  /**
   * Sends a request to the nodes' HTTP APIs. Returns the value on which a quorum of the nodes
   * agrees.
   */
  agree<T>(path: string, body: object, reading: AgreedReading<T>): Promise<T>
  /**
   * The replies of all nodes that answer. They are at least a quorum, or one of them `suffices`.
   */
  postAll<T>(
    path: string,
    body: object,
    parse: AgreedReading<T>['parse'],
    suffices: (value: T) => boolean,
  ): Promise<readonly T[]>
  /**
   * The newest balances of at most `balancesMax` addresses. A balance is null if no quorum agrees,
   * as after a block between two replies.
   */
  balances(addresses: readonly Address[], asset: Asset): Promise<readonly (bigint | null)[]>
  /**
   * Runs a query of the service's own reading of the chain. Each attempt may take `ms`
   * milliseconds, and a single node that hangs uses up a third of them.
   */
  read<T>(query: (session: Session) => ChainResult<T>, ms?: number): Promise<T>
}

/** The `merge` of replies that must be equal. */
export const ifEqual = <T>(a: T, b: T): T | undefined => (isDeepStrictEqual(a, b) ? a : undefined)

/**
 * Opens the configured nodes. It sends nothing itself. No request starts once `platform.signal` is
 * aborted.
 */
export function openNodes(chain: PooledChain, platform: StoppablePlatform): AgreedNodes {
  const { clock, signal } = platform
  const fetch: typeof globalThis.fetch = async (url, init) => {
    signal.throwIfAborted()
    return platform.fetch(url, init)
  }
  const { nodes, quorum } = chain
  const pool = openPool(chain, { clock, fetch })
  const repeat = <T>(ask: (session: Session) => Promise<Result<T, string>>, ms = questionMs) =>
    untilAnswered(platform, () => ask(sessionOf(pool, ms)))
  const agreeOn = <T>(
    service: NodeService,
    what: string,
    query: (session: Session, node: TronNode) => NodeResult<T>,
    { merge, otherwise, describe }: Omit<AgreedReading<T>, 'parse'>,
  ) =>
    repeat<T>(async (session) => {
      const most = (all: Answers<T>['answers']) => Math.max(0, ...groupsOf(all, merge).map(({ count }) => count))
      const asked = await collect(
        session,
        service,
        (node) => query(session, node),
        (all) => quorum - most(all),
      )
      const agreed = groupsOf(asked.answers, merge).find(({ count }) => count >= quorum)
      if (agreed !== undefined) return ok(agreed.value)
      if (asked.answers.length < quorum) return tooFew(asked, quorum, what)
      if (otherwise === undefined) return err(`the nodes contradict each other about ${what}${saying(asked, describe)}`)
      return ok(otherwise(asked.answers.map(({ value }) => value)))
    })
  return {
    clock,
    agree: (path, body, { parse, ...reading }) =>
      agreeOn('api', path, (session, node) => post(session, node, path, body, parse), reading),
    postAll: (path, body, parse, suffices) =>
      repeat(async (session) => {
        const query = (node: TronNode) => post(session, node, path, body, parse)
        const asked = await collect(session, 'api', query, (all) => nodes.length - all.length)
        const values = asked.answers.map(({ value }) => value)
        return values.length >= quorum || values.some(suffices) ? ok(values) : tooFew(asked, quorum, path)
      }),
    balances: (addresses, asset) =>
      agreeOn<readonly (bigint | null)[]>(
        'rpc',
        'with balances',
        async (session, node) => {
          const read = await readBalances(atNode(session, node), addresses, asset)
          return read.ok ? read : nodeError('unreachable', whyOf(read.error))
        },
        {
          merge: ifEqual,
          otherwise: (all) =>
            addresses.map((_, i) => {
              const values = all.map((one) => one[i] ?? null)
              return values.find((value) => values.filter((one) => one === value).length >= quorum) ?? null
            }),
        },
      ),
    read: (query, ms) =>
      repeat(async (session) => {
        const answer = await query(session)
        return answer.ok ? answer : err(whyOf(answer.error))
      }, ms),
  }
}

const whyOf = (failure: { readonly kind: string; readonly why?: string }) =>
  failure.why === undefined ? failure.kind : `no answer: ${failure.why}`

function post<T>(session: Session, node: TronNode, path: string, body: object, parse: AgreedReading<T>['parse']) {
  return askApi(session, node, `/wallet/${path}`, body, (reply) => {
    const value = parse(reply)
    return value === undefined ? nodeError('bad-answer', 'an unknown reply') : ok(value)
  })
}

const nodesAdvice =
  'run the same command again; if it stays, have the doctor check the same deployment: it shows which node is wrong'

/** Repeats a query every `lookMs` until it is answered, at most `attemptsOfQuestion` times. */
async function untilAnswered<T>(
  { clock, signal }: StoppablePlatform,
  once: () => Promise<Result<T, string>>,
): Promise<T> {
  for (let i = 1; ; i += 1) {
    const result = signal.aborted ? err('') : await once()
    if (result.ok) return result.value
    if (signal.aborted)
      throw new ToolError('stopped at the terminal', 'run the same command again: it goes on from what is on the chain')
    if (i === attemptsOfQuestion) throw new ToolError(result.error, nodesAdvice)
    await clock.sleep(lookMs)
  }
}

function tooFew<T>({ answers, errors }: Answers<T>, needed: number, what: string) {
  const reasons = [...errors].map(([{ number }, { detail }]) => `node ${number}: ${detail.replace(/^node \d+: /, '')}`)
  const why = reasons.join('; ') || 'they rest after failures'
  const who = answers.length === 0 ? 'no node' : `fewer than ${needed} nodes`
  return err(`${who} answered ${what} (${why})`)
}

/** The end of an error's sentence: what each node says. */
function saying<T>({ answers }: Answers<T>, describe: ((value: T) => string) | undefined): string {
  if (describe === undefined) return ''
  return `: ${answers.map(({ node, value }) => `node ${node.number} says ${describe(value)}`).join(', ')}`
}

/**
 * Groups the replies that `merge` accepts with each other, and merges each group. Each reply also
 * begins a group, because later replies may fit this reply but not the group that it joined.
 */
function groupsOf<T>(
  answers: Answers<T>['answers'],
  merge: AgreedReading<T>['merge'],
): readonly { readonly value: T; readonly count: number }[] {
  const groups: { value: T; count: number }[] = []
  for (const { value } of answers) {
    for (const group of groups) {
      const merged = merge(group.value, value)
      if (merged !== undefined) Object.assign(group, { value: merged, count: group.count + 1 })
    }
    groups.push({ value, count: 1 })
  }
  return groups
}
