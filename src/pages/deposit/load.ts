import type { Api, Refusal, Reply } from '../kit/api.ts'
import { type DepositModel, mergeNewest } from './context.ts'
import { type Arrival, readAddress, readArrivals, readHistory, readOffer, readWallets } from './data.ts'
import { addressPath, arrivalsPath, balancesPath, historyPath, offerPath, pageRows } from './paths.ts'
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

/**
 * Makes a function that loads missing and possibly changed data into the model. It returns null or
 * the first refusal. `changed` gets the transfers that are new or have a new state since the last
 * load. `paying` is called when everything that a payment needs is loaded, which are the currencies
 * and the address.
 */
export function createLoader(
  model: DepositModel,
  api: Api,
  changed: (arrivals: readonly Arrival[]) => void,
  paying: () => void,
): () => Promise<Refusal | null> {
  let offerAt = Number.NEGATIVE_INFINITY
  let walletAt = Number.NEGATIVE_INFINITY
  const into = async <Data>(path: string, read: (data: unknown) => Data, store: (data: Data) => void) => {
    const { account } = model
    const answer: Reply<Data> = await api.get(path, read)
    if (answer.ok && model.account === account) store(answer.data)
    return answer
  }
  const show = () => {
    if (model.offer !== null && model.address !== null) paying() // once for both, because drawing is slow on a phone
  }
  const loadArrivals = async () => {
    const { account } = model
    const limit = Math.min(arrivalRowsMax, Math.max(pageRows, model.arrivals?.list.length ?? 0))
    let answer = await api.get(arrivalsPath(limit), readArrivals)
    if (!answer.ok || model.account !== account) return answer
    let page = mergeNewest(answer.data, model.arrivals)
    // The requested amount may have arrived in more transfers than one answer contains.
    while (page.list.length < page.count && isWanted(page.list.at(-1))) {
      answer = await api.get(arrivalsPath(arrivalRowsMax, page.list.at(-1)?.id), readArrivals)
      if (!answer.ok || model.account !== account || answer.data.list.length === 0) return answer
      page = { list: [...page.list, ...answer.data.list], count: page.count }
    }
    const known = model.arrivals?.list
    const isNew = (one: Arrival) => !known?.some(({ id, state }) => id === one.id && state === one.state)
    const news = known === undefined ? [] : page.list.filter(isNew)
    if (news.some(({ state }) => state === 'credited')) walletAt = Number.NEGATIVE_INFINITY
    model.arrivals = page
    changed(news)
    return answer
  }
  const isWanted = (oldest: Arrival | undefined) => {
    const since = model.session.request?.since ?? 0
    return since > 0 && oldest !== undefined && Date.parse(oldest.created_at) >= since
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
    if (model.offer !== null && performance.now() < offerAt + offerMs) return null
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
  return async () => {
    const start = [loadOffer(), model.address === null ? loadAddress() : null]
    const first = await Promise.all([...start, loadArrivals(), ...loadWallet()])
    const isCredited = walletAt === Number.NEGATIVE_INFINITY
    const then = isCredited ? await Promise.all(loadWallet()) : []
    const refusal = [...first, ...then].find((answer) => answer?.ok === false)
    if (refusal?.ok !== false) return null
    offerAt = Number.NEGATIVE_INFINITY // when the service answers again, the currencies are read at once
    return refusal
  }
}
