/** Transfers and entries that are read at once. */
export const pageRows = 20

/** The currencies and their network. */
export const offerPath = '/currencies'
/** The caller's address. */
export const addressPath = '/tron/generate'
/** The balance in each currency. */
export const balancesPath = '/wallet/list'

/** The path of the newest transfers, or of those before an id. */
export function arrivalsPath(limit: number, before?: number): string {
  return `/tron/deposits?limit=${limit}${before === undefined ? '' : `&before=${before}`}`
}

/** The path of the newest payouts, or of those before an id. */
export function payoutsPath(before?: number): string {
  return `/tron/payouts?limit=100${before === undefined ? '' : `&before=${before}`}`
}

/** The path of a page of entries: of one currency or of all. */
export function historyPath(cuy: number | null, limit: number, before?: number): string {
  return `/wallet/flow/list?limit=${limit}${cuy === null ? '' : `&cuy=${cuy}`}${before === undefined ? '' : `&before=${before}`}`
}
