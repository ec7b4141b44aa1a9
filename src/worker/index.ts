import { DurableObject, WorkerEntrypoint, waitUntil } from 'cloudflare:workers'
import type { Address } from './chain/address.ts'
import type { Asset, Txid } from './chain/block.ts'
import type { ScannerCalls, SharedBlocks } from './chain/chain.ts'
import type { EndpointKey, Uid } from './common/ids.ts'
import {
  createBlocksObject,
  createEndpointObject,
  createScannerObject,
  createService,
  type Platform,
} from './compose.ts'
import { systemClock, uniqueName } from './platform/clock.ts'
import { createLogger } from './platform/logger.ts'
import { hostOf } from './platform/object-host.ts'
import type {
  AddressOptions,
  ApproveOptions,
  CancelOrdersOptions,
  CellOptions,
  DecisionToMake,
  EntriesQuery,
  EntryToPost,
  LedgerMethods,
  OrdersQuery,
  OrderToAsk,
  OrderToCancel,
  PayoutsQuery,
  PayoutToAsk,
  StepOptions,
} from './rpc/ledger-methods.ts'

type Bindings = Record<string, unknown>

const platform: Platform = {
  clock: systemClock,
  // biome-ignore lint/suspicious/noConsole: the console is where Workers collect log lines
  logger: createLogger((line) => console.log(line)),
  fetch: (input, init) => fetch(input, init),
  uniqueName,
  waitUntil,
}

const service = createService(platform)

export default {
  fetch: (request, bindings) => service.fetch(request, bindings),
  scheduled: (_controller, bindings) => service.scheduled(bindings),
} satisfies ExportedHandler<Bindings>

/**
 * The only part of the service that talks to nodes. Each run of the object's alarm is one tick of
 * the scan. Each cell (one of several databases, with its users) has one scanner. The object's name
 * identifies the cell (`cells/objects.ts`).
 */
export class Scanner extends DurableObject<Bindings> implements ScannerCalls {
  readonly #scanner = createScannerObject(platform, this.env, hostOf(this.ctx.storage), this.ctx.id.name)

  override alarm() {
    return this.#scanner.alarm()
  }
  wake() {
    return this.#scanner.wake()
  }
  expectPayment() {
    return this.#scanner.expectPayment()
  }
  waitForDeposit(uid: Uid, mark: string | null, ms: number) {
    return this.#scanner.waitForDeposit(uid, mark, ms)
  }
  prepareIssue(uid: Uid, firstIndex: number | null) {
    return this.#scanner.prepareIssue(uid, firstIndex)
  }
  balances(uid: Uid, addresses: readonly Address[], asset: Asset) {
    return this.#scanner.balances(uid, addresses, asset)
  }
  scanNow(uid: Uid) {
    return this.#scanner.scanNow(uid)
  }
  checkTransaction(uid: Uid, txid: Txid) {
    return this.#scanner.checkTransaction(uid, txid)
  }
  sendPayouts() {
    return this.#scanner.sendPayouts()
  }
  noteWrite() {
    return this.#scanner.noteWrite()
  }
  isRestored() {
    return this.#scanner.isRestored()
  }
  lookUpTransaction(txid: Txid) {
    return this.#scanner.lookUpTransaction(txid)
  }
  nodes() {
    return this.#scanner.nodes()
  }
}

/**
 * Delivers the events of a cell to one webhook endpoint, each time the object's alarm runs. There
 * is one object for each endpoint and cell.
 */
export class Endpoint extends DurableObject<Bindings> {
  readonly #endpoint = createEndpointObject(platform, this.env, hostOf(this.ctx.storage), this.ctx.id.name)

  override alarm() {
    return this.#endpoint.alarm()
  }
  wake(key: EndpointKey) {
    return this.#endpoint.wake(key)
  }
}

/**
 * The memory that the scanners of several cells share: blocks that one of them has just read. There
 * is one such object.
 */
export class Blocks extends DurableObject<Bindings> implements SharedBlocks {
  readonly #shared = createBlocksObject(platform)

  take(key: string, keptMs: number) {
    return this.#shared.take(key, keptMs)
  }
  give(key: string, value: unknown) {
    return this.#shared.give(key, value)
  }
}

/**
 * The ledger for other Workers of the account, which bind this entrypoint as a service. It cannot
 * be reached from outside.
 */
export class Ledger extends WorkerEntrypoint<Bindings> implements LedgerMethods {
  post(entries: readonly EntryToPost[], by: string, options?: CellOptions) {
    return service.ledger(this.env).post(entries, by, options)
  }
  decideDeposits(deposits: readonly DecisionToMake[], by: string, options?: CellOptions) {
    return service.ledger(this.env).decideDeposits(deposits, by, options)
  }
  entries(query: EntriesQuery) {
    return service.ledger(this.env).entries(query)
  }
  events(after: number, limit?: number, options?: CellOptions) {
    return service.ledger(this.env).events(after, limit, options)
  }
  checkpoint(options?: CellOptions) {
    return service.ledger(this.env).checkpoint(options)
  }
  wallets(uid: number, options?: CellOptions) {
    return service.ledger(this.env).wallets(uid, options)
  }
  address(uid: number, options?: AddressOptions) {
    return service.ledger(this.env).address(uid, options)
  }
  orders(query: OrdersQuery) {
    return service.ledger(this.env).orders(query)
  }
  askOrders(orders: readonly OrderToAsk[], by: string, options?: CellOptions) {
    return service.ledger(this.env).askOrders(orders, by, options)
  }
  cancelOrders(orders: readonly OrderToCancel[], by: string, options?: CancelOrdersOptions) {
    return service.ledger(this.env).cancelOrders(orders, by, options)
  }
  payouts(query: PayoutsQuery) {
    return service.ledger(this.env).payouts(query)
  }
  askPayouts(payouts: readonly PayoutToAsk[], by: string, options?: CellOptions) {
    return service.ledger(this.env).askPayouts(payouts, by, options)
  }
  approvePayouts(ids: readonly number[], by: string, options?: ApproveOptions) {
    return service.ledger(this.env).approvePayouts(ids, by, options)
  }
  cancelPayouts(ids: readonly number[], why: string, by: string, options?: StepOptions) {
    return service.ledger(this.env).cancelPayouts(ids, why, by, options)
  }
}

export type {
  AddressOptions,
  CancelOrdersOptions,
  CellOptions,
  DecisionToMake,
  EntriesQuery,
  EntryToPost,
  LedgerAnswer,
  LedgerDeposit,
  LedgerEntry,
  LedgerError,
  LedgerEvent,
  LedgerOrder,
  LedgerPayout,
  OrdersQuery,
  OrderToAsk,
  OrderToCancel,
  PayoutsQuery,
  PayoutToAsk,
} from './rpc/ledger-methods.ts'
