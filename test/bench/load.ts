import { UserError } from '../support/project.ts'

/**
 * Requests to send. The n-th goes to `paths[n % paths.length]` with `headers[n % headers.length]`,
 * if `headers` is given.
 */
export interface Load {
  readonly url: string
  readonly paths: readonly string[]
  readonly headers?: readonly Readonly<Record<string, string>>[]
  /**
   * The time in which new requests are sent, in milliseconds. A slow machine sends fewer of them.
   */
  readonly ms: number
  /** Open connections; each has one request at a time. */
  readonly connections: number
}

const responseTimeoutMs = 20_000

/**
 * Sends requests for the given time; returns the responses per second. Any status but 200 ends the
 * benchmark.
 */
export async function requestsPerSecond(load: Load): Promise<number> {
  const start = performance.now()
  const sent = await sendRequests(load)
  return (sent / (performance.now() - start)) * 1000
}

/**
 * Sends requests for the time `ms`; returns how many were answered. Any status but 200 ends the
 * benchmark.
 */
export function sendRequests({ url, paths, headers, ms, connections }: Load): Promise<number> {
  return sendInTurns(ms, connections, (n) =>
    getText(url + (paths[n % paths.length] ?? '/'), headers?.[n % headers.length]),
  )
}

/**
 * Calls `send` for `ms` milliseconds, with numbers from 0 on. `connections` calls run at the same
 * time. Returns how many calls have ended.
 */
export async function sendInTurns(
  ms: number,
  connections: number,
  send: (n: number) => Promise<unknown>,
): Promise<number> {
  const start = performance.now()
  let sent = 0
  const sendInTurn = async () => {
    while (performance.now() - start < ms) {
      const n = sent
      sent += 1
      await send(n)
    }
  }
  await Promise.all(Array.from({ length: connections }, sendInTurn))
  return sent
}

/** The body of the response to a GET request. Throws a `UserError` if the status is not 200. */
export async function getText(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(responseTimeoutMs) })
  const text = await response.text()
  if (response.status !== 200) throw new UserError(`${url} responded with ${response.status}: ${text.slice(0, 300)}`)
  return text
}
