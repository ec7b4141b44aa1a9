/** How many transfers or entries the page requests at a time. */
export const pageRows = 20

/** For how many seconds the service holds a request for transfers while the page waits for one. */
export const holdSeconds = 18

export const offerPath = '/currencies'
export const addressPath = '/tron/generate'
/** The path of the user's order with this reference. */
export const orderPath = (order: string) => `/tron/orders?order=${encodeURIComponent(order)}`
export const balancesPath = '/wallet/list'

/** The path of the newest transfers, or of those before an id. */
export function arrivalsPath(limit: number, before?: number): string {
  return `/tron/deposits?limit=${limit}${before === undefined ? '' : `&before=${before}`}`
}

/**
 * The path of the newest transfers, for a request that the service holds until something changes
 * since `mark`. Without a mark it is answered at once, with one.
 */
export function heldArrivalsPath(limit: number, mark: string | null): string {
  return `${arrivalsPath(limit)}&wait=${holdSeconds}${mark === null ? '' : `&mark=${mark}`}`
}

/** The path of a page of entries, of one currency or all: the newest, or those before an id. */
export function historyPath(cuy: number | null, limit: number, before?: number): string {
  return `/wallet/flow/list?${pageQuery(cuy, limit, before)}`
}

/** The path of a page of payouts, with the parameters of `historyPath`. */
export function payoutsPath(cuy: number | null, limit: number, before?: number): string {
  return `/tron/payouts?${pageQuery(cuy, limit, before)}`
}

const pageQuery = (cuy: number | null, limit: number, before?: number) =>
  `limit=${limit}${cuy === null ? '' : `&cuy=${cuy}`}${before === undefined ? '' : `&before=${before}`}`
