import { listFlows, listLedgerEvents, postLedgerEntries, recharge } from './client'

/** The service, with a token of a user and one of a backend. */
export interface Access {
  readonly baseUrl: string
  readonly userToken: string
  readonly backendToken: string
}

/**
 * Gives a user 5 USDT, and takes a millionth of a USDT for an order. Returns what the user's list
 * and the events show of the order.
 */
export async function payForOrder({ baseUrl, userToken, backendToken }: Access, uid: number): Promise<string[]> {
  const [user, backend] = [userToken, backendToken].map((auth) => ({ baseUrl, auth, throwOnError: true as const }))
  const posted = await postLedgerEntries({
    ...backend,
    body: {
      entries: [
        { uid, cuy: 2, type: 9, osn: 'gift-1', amt: '5' },
        { uid, cuy: 2, type: 4, osn: 'order-1', amt: '-0.000001', mark: 'a drop of tea' },
      ],
    },
  })
  const checked = await recharge(user)
  const flows = await listFlows({ ...user, query: { cuy: 2, type: '4', from: posted.data.data.list[1]?.created_at } })
  const events = await listLedgerEvents({ ...backend, query: { limit: 100 } })
  const own = events.data.data.list.filter((event) => event.uid === uid)
  return [
    ...flows.data.data.list.map(({ osn, amt, balance }) => `${osn}: ${amt}, then ${balance}`),
    checked.data.msg,
    ...own.flatMap((event) => (event.type === 'entry.posted' ? [`${event.type}: ${event.data.entry.osn}`] : [])),
  ]
}
