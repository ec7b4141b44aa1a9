import { Agent, request } from 'node:http'
import { Trouble } from './project.ts'

/** Requests to send: the n-th goes to `paths[n % paths.length]` with the headers in the same place. */
export interface Load {
  readonly url: string
  readonly paths: readonly string[]
  readonly headers?: readonly Readonly<Record<string, string>>[]
  /** For how long new requests are sent, in milliseconds: a slow machine answers fewer, and the run takes no longer. */
  readonly ms: number
  /** Kept open, each with one request under way. */
  readonly connections: number
}

const answerWithinMs = 20_000

/** Sends requests for the time given and gives the answers per second. Anything but 200 ends the benchmark. */
export async function answersPerSecond(load: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  const start = performance.now()
  let sent = 0
  const line = async () => {
    while (performance.now() - start < load.ms) {
      const n = sent
      sent += 1
      const path = load.paths[n % load.paths.length] ?? '/'
      await get(agent, load.url + path, load.headers?.[n % load.headers.length] ?? {})
    }
  }
  try {
    await Promise.all(Array.from({ length: load.connections }, line))
    return (sent / (performance.now() - start)) * 1000
  } finally {
    agent.destroy()
  }
}

/** The body of one answer. */
export async function getText(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(answerWithinMs) })
  const text = await response.text()
  if (response.status !== 200) throw new Trouble(`${url} answered ${response.status}: ${text.slice(0, 300)}`)
  return text
}

/** The JSON answer to a JSON body. */
export async function post<T>(url: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerWithinMs),
  })
  if (response.status !== 200) throw new Trouble(`${url} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T // the benchmark's own Workers
}

function get(agent: Agent, url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { ...headers }, timeout: answerWithinMs }, (answer) => {
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Trouble(`${url} answered ${answer.statusCode}`))
      })
      answer.resume()
    })
    sent.on('timeout', () => sent.destroy(new Trouble(`${url} did not answer in ${answerWithinMs} ms`)))
    sent.on('error', reject)
    sent.end()
  })
}
