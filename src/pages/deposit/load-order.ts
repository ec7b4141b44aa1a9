import type { Api, Refusal } from '../kit/api.ts'
import type { DepositModel } from './context.ts'
import { type Arrival, type PayerOrder, readPayerOrder } from './data.ts'
import { backOf, isOfOrder } from './order.ts'
import { orderPath } from './paths.ts'

/**
 * The order is read again after this time, because a backend can cancel it, and whenever transfers
 * to its address have changed.
 */
const orderMs = 120_000

/** Loads the order that the token names into the model. */
export interface OrderLoader {
  /** Reads the order if it is not known yet. Returns null or why it could not. */
  begin(): Promise<Refusal | null>
  /** Reads it again if it can have changed, as `arrivals` say. Returns null or why it could not. */
  follow(arrivals: readonly Arrival[]): Promise<Refusal | null>
}

/**
 * Makes the loader. `origins` are those to which an order may lead back; `found` is called when the
 * order is known.
 */
export function createOrderLoader(
  model: DepositModel,
  api: Api,
  origins: readonly string[],
  found: () => void,
): OrderLoader {
  let last = { account: -1, at: 0, transfers: '' }
  const load = async (transfers: string) => {
    const { session, account } = model
    last = { account, at: performance.now(), transfers }
    const answer = await api.get(orderPath(session.claim.order ?? ''), readPayerOrder)
    if (!answer.ok) last.account = -1 // it is read again with the next request
    if (!answer.ok || model.account !== account) return answer.ok ? null : answer
    const isFirst = !isKnown(model.order)
    model.order = answer.data ?? 'unknown'
    model.address = answer.data?.address ?? null
    if (isFirst && answer.data !== null) warnOfBack(answer.data, origins)
    if (isFirst) found()
    return null
  }
  return {
    begin: async () => (model.session.claim.order === null || isKnown(model.order) ? null : load(none)),
    async follow(arrivals) {
      if (!isKnown(model.order)) return null
      const transfers = transfersOf(model.order, arrivals)
      const { account, at } = last
      const isNew = account === model.account && last.transfers === transfers && performance.now() < at + orderMs
      return isNew ? null : load(transfers)
    },
  }
}

const isKnown = (order: DepositModel['order']): order is PayerOrder => order !== null && order !== 'unknown'

/** What `transfersOf` gives where there are none. */
const none = '[]'

/** The transfers to the order's address with their states, as one text. */
function transfersOf(order: PayerOrder, arrivals: readonly Arrival[]): string {
  return JSON.stringify(arrivals.filter((one) => isOfOrder(order, one)).map(({ id, state }) => [id, state]))
}

/** Tells the developer of the backend, in the console, that an order's way back is left out. */
function warnOfBack(order: PayerOrder, origins: readonly string[]): void {
  if (order.return === null || backOf(order, origins) !== null) return
  // biome-ignore lint/suspicious/noConsole: no other text says it
  console.warn(`The order's \`return\` is left out, because it is no https URL of PAGE_ORIGINS: ${order.return}`)
}
