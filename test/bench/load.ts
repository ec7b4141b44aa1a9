import { Agent, request } from 'node:http'
import { UserError } from '../support/project.ts'

/** Requests to send: the n-th goes to `paths[n % paths.length]` with the headers at the same position. */
export interface Load {
  readonly url: string
  readonly paths: readonly string[]
  readonly headers?: readonly Readonly<Record<string, string>>[]
  /** The time in which new requests are sent, in milliseconds. It is the same on slow machines. */
  readonly ms: number
  /** Open connections; each has one request at a time. */
  readonly connections: number
}

const responseTimeoutMs = 20_000

/** Sends requests for the given time; returns the responses per second. Any status but 200 ends the benchmark. */
export async function requestsPerSecond(load: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  const start = performance.now()
  let sent = 0
  const sendInTurn = async () => {
    while (performance.now() - start < load.ms) {
      const n = sent
      sent += 1
      const path = load.paths[n % load.paths.length] ?? '/'
      await get(agent, load.url + path, load.headers?.[n % load.headers.length] ?? {})
    }
  }
  try {
    await Promise.all(Array.from({ length: load.connections }, sendInTurn))
    return (sent / (performance.now() - start)) * 1000
  } finally {
    agent.destroy()
  }
}

/** The body of the response to a GET request. */
export async function getText(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(responseTimeoutMs) })
  const text = await response.text()
  if (response.status !== 200) throw new UserError(`${url} responded with ${response.status}: ${text.slice(0, 300)}`)
  return text
}

/** The JSON response to a POST request with a JSON body. */
export async function postForJson<T>(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(responseTimeoutMs),
  })
  if (response.status !== 200) {
    throw new UserError(`${url} responded with ${response.status}: ${await response.text()}`)
  }
  return (await response.json()) as T // the benchmark's own Workers
}

function get(agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { ...headers }, timeout: responseTimeoutMs }, (response) => {
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new UserError(`${url} responded with ${response.statusCode}`))
      })
      response.resume()
    })
    sent.on('timeout', () => sent.destroy(new UserError(`${url} did not respond in ${responseTimeoutMs} ms`)))
    sent.on('error', reject)
    sent.end()
  })
}
