import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { signBackendToken } from '../../shop/sign-backend-token-example.ts'
import { UserError } from '../../support/project.ts'
import { backendSecret } from '../../support/variables.ts'
import { bundleService } from '../bundles.ts'
import { comparedSpeeds, type Figure, type Scale } from '../figure.ts'
import { sendInTurns } from '../load.ts'
import { startWorkers } from '../miniflare.ts'
import { type Call, type LedgerApi, ownApi, type Peer, peerApi, peerNames } from '../peers.ts'
import { workerdProcesses } from '../processes.ts'
import { alternateSpeeds, type Speed, speedOf } from '../rounds.ts'
import { seedAddresses } from '../seeds.ts'
import { noNode, serviceVariables } from '../variables.ts'

const users = 50
/** How many entries each user gets before anything is measured. They fill a page, which has 20. */
const entriesEach = 25
const readers = 4
const atOnce = 16
const responseTimeoutMs = 30_000

/** A ledger that is measured. */
interface Side {
  readonly api: LedgerApi
  readonly url: string
  readonly processes: readonly string[]
  headers(): Promise<Readonly<Record<string, string>>>
}

/**
 * Measures posts and pages of the service, and of each ledger in `peers`, which must run already.
 * All do the same work in turn, over HTTP.
 */
export async function measurePeers(scale: Scale, peers: readonly Peer[]): Promise<readonly Figure[]> {
  if (peers.length === 0) throw new UserError(`Name a ledger that runs: --${peerNames.join('=… or --')}=…`)
  const figures: Figure[] = []
  for (const peer of peers) figures.push(...(await measurePeer(peer, scale)))
  return figures
}

async function measurePeer(peer: Peer, { rounds, work }: Scale): Promise<readonly Figure[]> {
  const { name } = peer
  const { script } = await bundleService()
  const others = new Set(workerdProcesses())
  const workers = await startWorkers(
    [{ name: 'service', script, database: 'ledger', variables: serviceVariables([noNode]), hasObjects: true }],
    { ledger: seedAddresses(10) },
  )
  const run = Date.now().toString(36)
  const own: Side = {
    api: ownApi,
    url: workers.url('service'),
    processes: workerdProcesses().filter((pid) => !others.has(pid)),
    headers: async () => ({ authorization: `Bearer ${await signBackendToken('bench', backendSecret)}` }),
  }
  const other: Side = { ...peer, api: peerApi(name, run), headers: async () => ({}) }
  try {
    const accounts = { own: await prepare(own, run), other: await prepare(other, run) }
    let posted = 0
    const ms = 3_000 * work
    const inTurn = (connections: number, call: (api: LedgerApi, n: number, accounts: readonly string[]) => Call) => {
      const of = (side: Side, own: readonly string[]) => () =>
        speedWith(side, ms, connections, (n) => call(side.api, n, own))
      return alternateSpeeds(rounds, { own: of(own, accounts.own), other: of(other, accounts.other) })
    }
    const post = (api: LedgerApi, n: number) => {
      posted += 1
      return api.post(n % users, `${run}-${posted}`)
    }
    const page = (api: LedgerApi, n: number, list: readonly string[]) => api.page(list[n % users] ?? '')
    return [
      ...comparedSpeeds('posts, one at a time', 'posts', await inTurn(1, post), ['own', 'other'], name),
      ...comparedSpeeds(`posts, ${atOnce} at a time`, 'posts', await inTurn(atOnce, post), ['own', 'other'], name),
      ...comparedSpeeds('pages of 20 entries', 'pages', await inTurn(readers, page), ['own', 'other'], name),
    ]
  } finally {
    await workers.stop()
  }
}

/**
 * Gives each user some entries, and makes sure that a page has 20 of them. @returns the accounts of
 * the users
 */
async function prepare(side: Side, run: string): Promise<readonly string[]> {
  const { api } = side
  const accounts: string[] = []
  await connected(side, async (send) => {
    for (const call of api.setUp) await send(call)
    for (let i = 0; i < users * entriesEach; i += 1) {
      accounts[i % users] = api.accountIn(await send(api.post(i % users, `${run}-first-${i}`)))
    }
    const entries = api.entriesIn(await send(api.page(accounts[0] ?? '')))
    if (entries !== 20) throw new UserError(`${side.url} has a page of ${entries} entries in place of 20`)
  })
  return accounts
}

function speedWith(side: Side, ms: number, connections: number, callOf: (n: number) => Call): Promise<Speed> {
  return connected(side, (send) => speedOf(side.processes, () => sendInTurns(ms, connections, (n) => send(callOf(n)))))
}

/** Sends a request, and returns the response. Any status but 2xx ends the benchmark. */
type Send = (call: Call) => Promise<string>

/**
 * Runs `work` with connections of its own. They are not kept for the next turn, because a server
 * may close connections that wait.
 */
async function connected<T>({ url, headers }: Side, work: (send: Send) => Promise<T>): Promise<T> {
  const agent = new Agent({ keepAlive: true })
  const own = { ...(await headers()), 'content-type': 'application/json' }
  const send: Send = async ({ path, body }) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(url + path, { agent, method, headers: own, signal: AbortSignal.timeout(responseTimeoutMs) })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    // safe: the argument of Node's event `response`
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) throw new UserError(`${path} responded with ${status}: ${text.slice(0, 300)}`)
    return text
  }
  try {
    return await work(send)
  } finally {
    agent.destroy()
  }
}
