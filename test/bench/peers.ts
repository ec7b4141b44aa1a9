/** How the benchmark asks the service and two ledgers of other makers for the same work. */

/** A ledger of another maker that runs already. An option of the benchmark names it. */
export interface Peer {
  readonly name: PeerName
  /** Without a slash at the end. */
  readonly url: string
  /**
   * Ids of the processes whose CPU time counts, with their children: those of the ledger and of its
   * databases.
   */
  readonly processes: readonly string[]
}

/**
 * The ledgers of other makers that the benchmark can measure. The option of `blnk` is `--blnk=…`.
 */
export const peerNames = ['blnk', 'formance'] as const
export type PeerName = (typeof peerNames)[number]

/**
 * Parses an option such as `--blnk=http://127.0.0.1:5001,4711,4712`: a URL, then ids of processes.
 * Null for another argument.
 */
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

/**
 * The requests that the benchmark sends to a ledger, and what it reads from the responses. Users
 * count from 0.
 */
export interface LedgerApi {
  /** The first requests, which prepare the ledger. */
  readonly setUp: readonly Call[]
  /** Gives a user one unit. No other post has the same `reference`. */
  post(user: number, reference: string): Call
  /** Reads from the response to a post the user's account, which `page` takes. */
  accountIn(response: string): string
  /** Asks for the newest 20 entries of an account, credits and debits. */
  page(account: string): Call
  /** How many entries the response to `page` has. */
  entriesIn(response: string): number
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

/** The service itself, by its routes for backends. */
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

/**
 * The requests of a ledger of another maker. The names of its accounts contain `run`, because
 * accounts of earlier runs already have entries.
 */
export function peerApi(name: PeerName, run: string): LedgerApi {
  return { blnk: blnkApi, formance: formanceApi }[name](run)
}

/**
 * Blnk 0.15. Each user has a counter-account, because Blnk locks both accounts of a transaction.
 * With `skip_queue` Blnk answers when the transaction is applied, as the service does. An account
 * is made by its first transaction.
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
