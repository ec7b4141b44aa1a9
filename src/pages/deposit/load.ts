import type { Api, Refusal, Reply } from '../kit/api.ts'
import { type DepositModel, mergeNewest } from './context.ts'
import { type Arrival, readAddress, readArrivals, readHistory, readOffer, readWallets } from './data.ts'
import { addressPath, arrivalsPath, balancesPath, historyPath, offerPath, pageRows } from './paths.ts'
import { loadPayouts } from './payouts.ts'

/** Transfers that are read at once, at most. */
const arrivalRowsMax = 100
/** After this long it is read again what can be sent now, and how late the network is. */
const offerMs = 21_000
/** After this long balances and entries are read again without a new credit: the operator's system can change them, too. */
const walletMs = 60_000

/**
 * Makes a function that loads what is missing in the model and what can have changed, and returns null or the first refusal.
 * `changed` gets the transfers that are new or in a new state since the load before. `paying` is called when
 * what a payment needs is there: the rest can be slower.
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
    if (model.offer !== null && model.address !== null) paying() // once for both: drawing takes a phone long
  }
  const loadArrivals = async () => {
    const { account } = model
    const limit = Math.min(arrivalRowsMax, Math.max(pageRows, model.arrivals?.list.length ?? 0))
    let answer = await api.get(arrivalsPath(limit), readArrivals)
    if (!answer.ok || model.account !== account) return answer
    let page = mergeNewest(answer.data, model.arrivals)
    // What is asked to be paid can have come in more transfers than one answer has.
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
    return since > 0 && oldest !== undefined && Date.parse(oldest.at) >= since
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
    offerAt = Number.NEGATIVE_INFINITY // what can be sent is known again at once when the service answers
    return refusal
  }
}
