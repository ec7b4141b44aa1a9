/** The interfaces of ledgers that others have made, for the same work as with the service. */

/** A ledger that runs already, given by the options of the benchmark. */
export interface Peer {
  readonly name: PeerName
  /** Without a slash at the end. */
  readonly url: string
  /** The processes whose CPU time counts, with their children: its own, and those of its databases. */
  readonly processes: readonly string[]
}

/** The ledgers that the benchmark can talk to, each by its option. */
export const peerNames = ['blnk', 'formance'] as const
export type PeerName = (typeof peerNames)[number]

/** An option as `--blnk=http://127.0.0.1:5001,4711,4712`: a URL, then processes. Null for another argument. */
export function parsePeer(arg: string): Peer | null {
  const name = peerNames.find((one) => arg.startsWith(`--${one}=`))
  if (name === undefined) return null
  const [url = '', ...processes] = arg.slice(`--${name}=`.length).split(',')
  return { name, url: url.replace(/\/$/, ''), processes }
}

/** A request. A body is sent as JSON. */
export interface Call {
  readonly path: string
  readonly body?: unknown
}

/** What is asked of a ledger. Users count from 0. */
export interface LedgerApi {
  /** Requests that come before all others. */
  readonly setUp: readonly Call[]
  /** Gives a user one unit; `reference` is that of no other post. */
  post(user: number, reference: string): Call
  /** What `page` takes, from the response to a post. */
  accountIn(response: string): string
  /** The newest 20 entries of an account, in both directions. */
  page(account: string): Call
  /** The entries in the response to `page`. */
  entriesIn(response: string): number
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

/** The service, by the routes of backends. */
export const ownApi: LedgerApi = {
  setUp: [],
  post: (user, osn) => ({
    path: '/ledger/entries',
    body: { entries: [{ uid: user + 1, cuy: 1, type: 5, osn, amt: '1' }] },
  }),
  accountIn: (response) => `${JSON.parse(response).data.list[0].uid}`,
  page: (account) => ({ path: `/ledger/entries?uid=${account}&limit=20` }),
  entriesIn: (response) => lengthOf(JSON.parse(response).data.list),
}

/** `run` is in the names of accounts: those of another run have other entries. */
export function peerApi(name: PeerName, run: string): LedgerApi {
  return { blnk: blnkApi, formance: formanceApi }[name](run)
}

/**
 * Blnk 0.15. Each user has a counter-account of its own, because Blnk locks both accounts of a transaction; `skip_queue` answers once it is applied, as the
 * service does. An account is made by its first transaction.
 */
function blnkApi(run: string): LedgerApi {
  return {
    setUp: [],
    post: (user, reference) => ({
      path: '/transactions',
      body: {
        amount: 1,
        precision: 1_000_000,
        reference,
        currency: 'TRX',
        source: `@till-${run}-${user}`,
        destination: `@user-${run}-${user}`,
        description: 'refund',
        allow_overdraft: true,
        skip_queue: true,
      },
    }),
    accountIn: (response) => JSON.parse(response).destination,
    page: (id) => ({ path: `/transactions?source_eq=${id}&destination_eq=${id}&logical_operator=or&limit=20` }),
    entriesIn: (response) => lengthOf(JSON.parse(response)),
  }
}

/** Formance's ledger 2. Units come from `world`, its account without a limit. */
function formanceApi(run: string): LedgerApi {
  const ledger = `/v2/bench-${run}`
  return {
    setUp: [{ path: ledger, body: {} }],
    post: (user, reference) => ({
      path: `${ledger}/transactions`,
      body: {
        reference,
        postings: [{ source: 'world', destination: `users:${user}`, amount: 1_000_000, asset: 'TRX/6' }],
        metadata: {},
      },
    }),
    accountIn: (response) => JSON.parse(response).data.postings[0].destination,
    page: (account) => {
      const query = encodeURIComponent(JSON.stringify({ $match: { account } }))
      return { path: `${ledger}/transactions?pageSize=20&query=${query}` }
    },
    entriesIn: (response) => lengthOf(JSON.parse(response).cursor.data),
  }
}
