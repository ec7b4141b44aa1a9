import type { Api, Refusal, Reply } from '../kit/api.ts'
import { type DepositModel, mergeNewest } from './context.ts'
import { type Arrival, readAddress, readHistory, readOffer, readWallets } from './data.ts'
import { createOrderLoader } from './load-order.ts'
import { allMs, createNewestArrivals } from './newest.ts'
import { addressPath, balancesPath, historyPath, offerPath, pageRows } from './paths.ts'
import { loadPayouts } from './withdrawals.ts'

/** Most transfers that the service returns in one answer. */
const arrivalRowsMax = 100
/** The currencies, and how late the network is, are read again after this time. */
const offerMs = 21_000
/**
 * Balances and entries are read again after this time, and after each new credit: backends of the
 * operator can change them, too.
 */
const walletMs = 60_000
const never = Number.NEGATIVE_INFINITY

export interface Loader {
  /**
   * Loads missing and possibly changed data into the model. Returns null or the first refusal.
   * `signal` ends a request that the service holds.
   */
  load(signal: AbortSignal): Promise<Refusal | null>
  /** Whether the service holds requests for transfers. Then the next one may follow at once. */
  wasHeld(): boolean
}

/** Is told what a loader has loaded, and says whether the page only waits. */
export interface LoadListener {
  /** Gets the transfers that are new or have a new state since the last load. */
  changed(arrivals: readonly Arrival[]): void
  /** Called when everything that a payment needs is loaded: the currencies and the address. */
  paying(): void
  /**
   * Whether the page shows an address, and nothing is on its way: then the service holds requests.
   */
  isWaiting(): boolean
}

/** Makes the loader. `origins` are those to which an order may lead back. */
export function createLoader(
  model: DepositModel,
  api: Api,
  origins: readonly string[],
  { changed, paying, isWaiting }: LoadListener,
): Loader {
  let [offerAt, walletAt] = [never, never]
  const newest = createNewestArrivals(api, isWaiting)
  const into = async <Data>(path: string, read: (data: unknown) => Data, store: (data: Data) => void) => {
    const { account } = model
    const answer: Reply<Data> = await api.get(path, read)
    if (answer.ok && model.account === account) store(answer.data)
    return answer
  }
  const show = () => {
    if (model.offer !== null && model.address !== null) paying() // once for both, because drawing is slow on a phone
  }
  const order = createOrderLoader(model, api, origins, show)
  const loadArrivals = async (signal: AbortSignal) => {
    const { account } = model
    const limit = Math.min(arrivalRowsMax, Math.max(pageRows, model.arrivals?.list.length ?? 0))
    const doubted = () => {
      offerAt = never
    }
    const [refusal, answer] = await Promise.all([order.begin(), newest.load(limit, signal, doubted)])
    if (refusal !== null || answer?.ok === false || model.account !== account) return refusal ?? answer
    const page = answer === null ? model.arrivals : mergeNewest(answer.data, model.arrivals)
    if (page === null) return answer
    // Without the order's sums the page would ask again for what new transfers have brought.
    const unread = await order.follow(page.list)
    if (unread !== null || model.account !== account || answer === null) return unread ?? answer
    const news = newsOf(page.list, model.arrivals?.list)
    if (news.some(({ state }) => state === 'credited')) walletAt = never
    model.arrivals = page
    changed(news)
    return answer
  }
  const loadWallet = () => {
    const isRead = model.history !== null && model.balances !== null && performance.now() < walletAt + walletMs
    if (isRead || !model.folds.has('wallet')) return []
    const { filter } = model
    walletAt = performance.now()
    return [
      into(balancesPath, readWallets, (balances) => {
        model.balances = balances
      }),
      into(historyPath(filter, pageRows), readHistory, (page) => {
        if (model.filter === filter) model.history = mergeNewest(page, model.history)
      }).then(async (answer) => (answer.ok ? await loadPayouts(model, api) : answer)),
    ]
  }
  const loadOffer = () => {
    if (model.offer !== null && performance.now() < offerAt + (newest.wasHeld() ? allMs : offerMs)) return null
    offerAt = performance.now()
    return into(offerPath, readOffer, (offer) => {
      model.offer = offer
      show()
    })
  }
  const loadAddress = () =>
    into(addressPath, readAddress, (address) => {
      model.address = address
      show()
    })
  const load = async (signal: AbortSignal) => {
    const { claim } = model.session
    if (claim.fault !== null) return null
    const start = [loadOffer(), claim.order === null && model.address === null ? loadAddress() : null]
    const first = await Promise.all([...start, loadArrivals(signal), ...loadWallet()])
    const isCredited = walletAt === never
    const then = await Promise.all([...(isCredited ? loadWallet() : []), offerAt === never ? loadOffer() : null])
    const refusal = [...first, ...then].find((answer) => answer?.ok === false)
    if (refusal?.ok !== false) return null
    offerAt = never // when the service answers again, the currencies are read at once
    return refusal
  }
  return { load, wasHeld: newest.wasHeld }
}

/** The transfers that are new or have another state than the known ones; none at first. */
function newsOf(list: readonly Arrival[], known: readonly Arrival[] | undefined): readonly Arrival[] {
  const isNew = (one: Arrival) => !known?.some(({ id, state }) => id === one.id && state === one.state)
  return known === undefined ? [] : list.filter(isNew)
}
