/** What `npm start` prints. */

import { parseJson } from '../../src/worker/common/result.ts'
import type { LocalCell } from './cells.ts'
import {
  collectCommand,
  localBackendToken,
  paymentCommand,
  payoutCommands,
  readPorts,
  readVariable,
  secondsToFinal,
} from './local.ts'
import { freshBase58 } from './operator.ts'

/**
 * What `npm start` has started. `shop` and `desk` are null if `.dev.vars` has no secrets for them.
 * `chainPort` is `DEVNET_PORT`, if it is set.
 */
interface Running {
  readonly base: string
  readonly address: string
  readonly shop: string | null
  readonly desk: string | null
  readonly chainPort: string | undefined
  /** Absent if there is only one cell. */
  readonly cells?: readonly Pick<LocalCell, 'uids'>[]
}

/** The lines that are printed when everything runs. */
export function welcome({ base, address, shop, desk, chainPort, cells = [] }: Running): string {
  const links: (readonly [url: string, what: string])[] = [[`${base}/deposit`, 'the page where user 1 pays']]
  if (shop !== null) links.push([shop, 'a pretend shop: buy tea there'])
  if (desk !== null) links.push([desk, 'the desk of the operator, signed in'])
  const width = Math.max(...links.map(([url]) => url.length))
  const ofCells = cells.map(({ uids }, i) => `cell ${i + 1} has users ${uids}`)
  const lines = [
    ...links.map(([url, what]) => `${url.padEnd(width)}  ${what}\n`),
    ...(cells.length === 0 ? [] : [`${ofCells.join(', ')}\n`]),
  ]
  return `${lines.join('')}
To pay, in a second terminal:  ${chainPort ? `DEVNET_PORT=${chainPort} ` : ''}npm run pay -- ${address} 25 USDT
The rest:  npm start -- --help    Ctrl-C stops it; the chain and the database are kept.`
}

/** What `npm start -- --help` prints. */
export async function helpText(): Promise<string> {
  const ports = readPorts()
  const base = `http://127.0.0.1:${ports.service}`
  const nodes = process.env.DEVNET_PORT ? localNodes(`http://127.0.0.1:${ports.tron}`) : null
  const routes = [
    '/tron/generate',
    '/tron/recharge',
    '/tron/deposits',
    '/tron/payouts',
    '/wallet/list',
    '/wallet/flow/list',
  ]
  const secret = readVariable('BACKEND_JWT_SECRET')
  const parts = [
    `npm start              starts a local chain, the database, the service, a receiver of events and a pretend shop
npm start -- --log     prints each request and each step of the service too
npm start -- --help    prints this
npm start -- --cells 3 has three databases behind one service (CELLS), and a chain and data of their own. The commands
                       act on them in .devnet/cells-3:
  (cd .devnet/cells-3; PATH=../../node_modules/.bin:$PATH node ../../src/commands/doctor/start.ts --cell 2)

PORT (${ports.service}) and DEVNET_PORT (${ports.tron}) choose other ports. "npm run devnet:reset" deletes the chain and the database.
The archive of all that happens is in .devnet/archive, a minute later: docs/guides/repair.md has a drill with it.`,
    `Requests, while it runs. Without a token they act for user 1. ${base}/docs has every route, and tokens in one
click. The service finds deposits by itself; /tron/recharge looks at once. A payment is on its way after a few seconds,
and credited after ${secondsToFinal}.`,
    commands([...routes, '/tron/balance'].map((route) => `curl ${base}${route}`)),
    ...(secret === undefined ? [] : await backendParts(base, secret, nodes)),
    `Collect what the deposit addresses hold (docs/guides/collecting.md), here to an address of another public mnemonic:`,
    commands([collectCommand(nodes)]),
  ]
  return parts.join('\n\n')
}

/** The part of the help about backends. All of its commands use one token. */
async function backendParts(base: string, secret: string, nodes: string | null): Promise<readonly string[]> {
  const token = `TOKEN=${await localBackendToken(secret)}`
  const [signer, ...asking] = payoutCommands(base, freshBase58, nodes)
  const payment = [
    'A backend takes a payment (type 5 is a refund). The token is that of the shop, and valid for an hour.',
    commands([token, paymentCommand(base)]),
  ]
  if (readVariable('PAYOUTS') === undefined) return payment
  return [
    ...payment,
    `It can also pay out, here 5 USDT to an address that nobody has used. First start the signer, in another terminal.
It asks for the mnemonic, which is "${'test '.repeat(11)}junk" here, in public:`,
    commands([signer]),
    'Then ask for the payout. More than 100 waits at the desk for a person.',
    commands(asking),
  ]
}

const commands = (lines: readonly string[]) => lines.map((line) => `  ${line}`).join('\n')

/**
 * `TRON_NODES` for a local chain on another port than usual, with the limits of
 * `test/devnet/dev.vars`.
 */
const localNodes = (api: string) =>
  JSON.stringify([{ rpc: `${api}/jsonrpc`, api, perSecond: 1_000, perDay: 10_000_000 }])

/** The symbols of the currencies in `.dev.vars`, by their numbers. */
export function localSymbols(): ReadonlyMap<number, string> {
  // safe: the service has accepted it
  const list = JSON.parse(readVariable('CURRENCIES') ?? '[]') as { readonly cuy: number; readonly symbol: string }[]
  return new Map(list.map(({ cuy, symbol }) => [cuy, symbol]))
}

/** The members of an event's data that its line can show. No type of event has all of them. */
interface EventData {
  readonly cuy?: number
  readonly amt?: number
  readonly txid?: string
  readonly osn?: string
  readonly why?: string
  readonly reason?: string
  readonly seconds?: number
  readonly entry?: EventData
}

interface ShownEvent {
  readonly id?: number
  readonly type: string
  readonly uid?: number
  /** The number of the cell that the event is from, if there are several. */
  readonly cell?: number
  readonly data?: EventData
}

/** One line for an event. `GET /ledger/events` shows the whole event. */
export function eventLine(event: unknown, symbols: ReadonlyMap<number, string>): string {
  const { id, type, uid, cell, data } = event as ShownEvent // safe: the form in which the service sends an event
  if (id === undefined || uid === undefined || data === undefined) return `Event: ${JSON.stringify(event)}`
  const { cuy, amt, osn } = data.entry ?? data
  const currency = cuy === undefined ? null : (symbols.get(cuy) ?? `of currency ${cuy}`)
  const order = data.osn ?? (data.txid === undefined ? osn : `${data.txid.slice(0, 8)}…`)
  const final = data.seconds === undefined ? null : `final in about ${data.seconds} s`
  const amount = [amt, currency].filter((one) => one !== undefined && one !== null).join(' ')
  const parts = [amount, order, data.why ?? data.reason, final].filter((part) => part)
  return `Event ${id}${cell === undefined ? '' : ` of cell ${cell}`}: ${[type, `user ${uid}`, ...parts].join(', ')}`
}

/**
 * One line for a request whose token was refused, from the service's own line about it; null for
 * any other line. The answer says nothing about a token whose signature is wrong, so a wrong secret
 * in one's own shop could not be told from a fault of the service.
 */
export function refusedTokenLine(line: string): string | null {
  if (!line.startsWith('{"level":"info"')) return null
  const { event, status, method, route } = (parseJson(line) ?? {}) as Readonly<Record<string, unknown>>
  if (event !== 'request' || status !== 401) return null
  const variable = String(route).startsWith('/ledger') ? 'BACKEND_JWT_SECRET' : 'AUTH_JWT_SECRET'
  return (
    `${method} ${route}: 401. Was the token signed with ${variable} of .dev.vars? ` +
    'If it was, the header WWW-Authenticate of the answer says what is wrong with it.'
  )
}

/** Whether to print a line of the service: all but requests, ticks and other news (`info`). */
export const isWorthPrinting = (line: string) =>
  line.trim() !== '' && !line.startsWith('[wrangler:info]') && !line.startsWith('{"level":"info"')
