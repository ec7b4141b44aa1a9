import type { ChainResult } from '../../chain/chain.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { NodeConfig } from '../../config/chain.ts'
import { attemptsOfRequest, retryMs } from './limits.ts'

/** The value of a reply, or null where it is none of those that are known. */
export type ParseReply<T> = (value: unknown) => T | null

/** How the replies of several nodes become one value. */
export interface AgreedReading<T> {
  readonly parse: ParseReply<T>
  /** The value that is right where either of two replies is, or null where they contradict each other. */
  readonly merge: (a: T, b: T) => T | null
  /** The value where no quorum agrees. Without it the nodes are asked again, and then it is an error. */
  readonly otherwise?: T
}

/** What is asked of the nodes' HTTP APIs. No single node is trusted. Errors are one sentence without a URL. */
export interface ApiReadings {
  /** What a quorum of the nodes with an HTTP API replies; all of these nodes, where they are fewer. */
  agree<T>(path: string, body: object, reading: AgreedReading<T>): Promise<Result<T, string>>
  /** The replies of all nodes with an HTTP API that answer: at least one. */
  postAll<T>(path: string, body: object, parse: ParseReply<T>): Promise<Result<readonly T[], string>>
}

/** A node with an HTTP API, and its place in TRON_NODES from 1. */
export type ApiNode = NodeConfig & { readonly number: number }
/** Asks one node. */
export type AskNode = <T>(node: ApiNode, path: string, body: object, parse: ParseReply<T>) => ChainResult<T>

/** `quorum` of the nodes must agree. */
export function createApiReadings(
  nodes: readonly ApiNode[],
  quorum: number,
  ask: AskNode,
  sleep: (ms: number) => Promise<void>,
): ApiReadings {
  const needed = Math.min(quorum, nodes.length)
  const failed = new Set<number>() // these are asked last: a node that hangs is not waited for each time
  /** Asks one node after the other until `isEnough`. Returns how many replied, and why the last one did not. */
  const askEach = async <T>(path: string, body: object, parse: ParseReply<T>, isEnough: (reply: T) => boolean) => {
    let [replies, why] = [0, '']
    const order = nodes.toSorted((a, b) => Number(failed.has(a.number)) - Number(failed.has(b.number)))
    for (const node of order) {
      const reply = await ask(node, path, body, parse)
      if (reply.ok) {
        failed.delete(node.number)
        replies += 1
        if (isEnough(reply.value)) break
      } else {
        failed.add(node.number)
        why = reply.error.kind === 'no-answer' ? reply.error.why : reply.error.kind
      }
    }
    return { replies, why }
  }
  const repeat = async <T>(once: () => Promise<Result<T, string>>): Promise<Result<T, string>> => {
    if (nodes.length === 0) return err('no node of TRON_NODES has an HTTP API (api)')
    for (let i = 1; ; i += 1) {
      const result = await once()
      if (result.ok || i === attemptsOfRequest) return result
      await sleep(retryMs)
    }
  }
  return {
    agree: (path, body, { parse, merge, otherwise }) =>
      repeat(async () => {
        const votes = createVotes(merge, needed)
        const { replies, why } = await askEach(path, body, parse, votes.add)
        const agreed = votes.agreed() ?? (replies >= needed ? otherwise : undefined)
        if (agreed !== undefined) return ok(agreed)
        if (replies >= needed) return err(`the nodes contradict each other about ${path}`)
        return err(
          replies === 0 ? `no node answered ${path} (${why})` : `fewer than ${needed} nodes answered ${path} (${why})`,
        )
      }),
    postAll: <T>(path: string, body: object, parse: ParseReply<T>) =>
      repeat<readonly T[]>(async () => {
        const values: T[] = []
        const { why } = await askEach(path, body, parse, (value) => {
          values.push(value)
          return false
        })
        return values.length === 0 ? err(`no node answered ${path} (${why})`) : ok(values)
      }),
  }
}

/** Counts the replies that fit together. */
function createVotes<T>(merge: (a: T, b: T) => T | null, needed: number) {
  const groups: { value: T; count: number }[] = []
  const agreed = () => groups.find(({ count }) => count >= needed)?.value
  return {
    /** The value of a quorum, if there is one. */
    agreed,
    /** Returns whether a quorum agrees. */
    add(reply: T): boolean {
      for (const group of groups) {
        const merged = merge(group.value, reply)
        if (merged !== null) Object.assign(group, { value: merged, count: group.count + 1 })
      }
      groups.push({ value: reply, count: 1 })
      return agreed() !== undefined
    },
  }
}
