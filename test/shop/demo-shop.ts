/**
 * A pretend shop for `npm start`. It sells tea for 25 USDT to user 1, who can have several orders
 * open at once. The deposit page asks for the amount, in a frame or on a page of its own. The
 * service takes the payment from the buyer's wallet as soon as the order is paid.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { deskAddress, localBackendToken, localUserToken } from '../devnet/local.ts'
import { embeddingExample } from '../pages/embedding-page.ts'
import { signPaymentToken } from './payment-token-example.ts'

export interface DemoShopParts {
  /** The origin of the service. */
  wallet(): string
  /**
   * Signs the tokens of buyers (`AUTH_JWT_SECRET`) and of the shop itself (`BACKEND_JWT_SECRET`).
   */
  readonly secrets: { readonly callers: string; readonly backends: string }
}

const buyer = { uid: 1, name: 'Anna Wei' }

/** An order of the shop. The service has it under the same reference. */
interface ShopOrder {
  readonly id: string
  isPaid: boolean
}

/**
 * Makes the shop, which keeps its orders in memory. The receiver of events calls `settle` after
 * each event.
 */
export function createDemoShop({ wallet, secrets }: DemoShopParts) {
  const orders = new Map<string, ShopOrder>()
  const ask = async (path: string, sent?: object) => {
    const authorization = `Bearer ${await localBackendToken(secrets.backends)}`
    const headers = { authorization, 'content-type': 'application/json' }
    const posted = sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) }
    return fetch(`${wallet()}/ledger/orders${path}`, { headers, ...posted })
  }
  /** Asks the service for an order of tea, to which the buyer returns at `origin`. */
  const create = async (origin: string) => {
    const id = `${1041 + orders.size}-${Math.floor(Date.now() / 1_000)}`
    const { uid } = buyer
    const tea = { uid, cuy: 2, amt: '25', order: id, take: true, return: `${origin}/orders/${id}`, mark: 'tea' }
    const order = { id, isPaid: false }
    orders.set(id, order) // before the answer, so that the next order has another number
    const asked = await ask('', { orders: [tea] })
    if (!asked.ok) throw new Error(await asked.text())
    return order
  }
  const settle = async () => {
    for (const order of orders.values()) if (!order.isPaid) order.isPaid = await isTaken(order)
  }
  /** Whether the service has taken the payment of an order: not what the buyer has spent. */
  const isTaken = async ({ id }: ShopOrder) => {
    const answer = await ask(`?uid=${buyer.uid}&order=${id}`)
    if (!answer.ok) return false
    // safe: the service's own answer
    const { data } = (await answer.json()) as { data: { list: readonly { taken: boolean }[] } }
    return data.list[0]?.taken === true
  }
  /**
   * The URL of /docs with a token of user 1 and one of a backend, both valid for an hour, and with
   * the place in /docs that the reader had open.
   */
  const docsWithTokens = async (asked: URLSearchParams) => {
    const [bearer, backend] = await Promise.all([localUserToken(secrets.callers), localBackendToken(secrets.backends)])
    return `${wallet()}/docs#${new URLSearchParams({ bearer, backend, at: asked.get('at') ?? '' })}`
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const origin = `http://${request.headers.host}`
    const { pathname, searchParams } = new URL(request.url ?? '/', origin)
    const [, kind, id = '', what] = pathname.split('/')
    const order = orders.get(id)
    if (kind === '') return send(response, page(startPage([...orders.values()])))
    if (kind === 'orders' && request.method === 'POST') {
      return void response.writeHead(303, { location: `/orders/${(await create(origin)).id}` }).end()
    }
    if (kind === 'docs-tokens')
      return void response.writeHead(303, { location: await docsWithTokens(searchParams) }).end()
    if (kind === 'desk')
      return void response.writeHead(303, { location: await deskAddress(wallet(), secrets.backends) }).end()
    if (order === undefined) return void response.writeHead(404).end()
    if (what === 'state') return send(response, order.isPaid ? 'paid' : 'open')
    const token = await signPaymentToken(buyer, id, secrets.callers)
    if (what === 'token') return send(response, token)
    send(response, page(orderPage(order, wallet(), token)))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  return { server, settle }
}

function send(response: ServerResponse, body: string): void {
  const type = body.startsWith('<') ? 'text/html' : 'text/plain'
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' }).end(body)
}

const page = (content: string) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tea shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<style>html { background: canvas; color: canvastext }
body { max-width: 56rem; margin: 0 auto; padding: 0 1rem; font: 100%/1.5 system-ui, sans-serif }</style>
<header><h1>Tea shop</h1></header>
<main>${content}</main>`

const paidWords = 'Paid. Thank you!'

function startPage(orders: readonly ShopOrder[]): string {
  const lines = orders.map(
    ({ id, isPaid }) => `<li><a href="/orders/${id}">Order ${id}</a>: ${isPaid ? 'paid' : 'not paid yet'}</li>`,
  )
  const list = lines.length === 0 ? '' : `\n<h2>Your orders</h2>\n<ul>${lines.join('')}</ul>`
  return `<form method="post" action="/orders"><button>Buy tea, 25 USDT</button></form>${list}`
}

function orderPage({ id, isPaid }: ShopOrder, wallet: string, token: string): string {
  const order = `<p>Order ${id}: tea, 25 USDT. <strong id="state" role="status">${isPaid ? paidWords : 'Not paid yet'}</strong></p>`
  if (isPaid) return `${order}\n<p><a href="/">Buy more</a></p>`
  return `${order}
<p id="ways">Pay here,
or <a href="${wallet}/deposit#token=${token}" target="_blank" rel="noopener">on a page of its own</a>; or <a href="/">order something else</a> first.</p>
${embeddingExample(wallet, `/orders/${id}/token`)}
<script>
  const state = document.getElementById('state')
  const hints = {
    waiting: 'Waiting for your payment',
    seen: 'Your payment is on its way',
    'partly-paid': 'A part of it is there, the rest is missing',
    paid: 'Your payment is there: we are taking it',
    expired: 'This order has expired: please order again',
  }
  let isPaid = false
  addEventListener('deposit', ({ detail }) => {
    if (!isPaid) state.textContent = hints[detail.state] // what the page says is a hint: the shop's own server decides
  })
  const ask = async () => {
    isPaid = (await (await fetch('/orders/${id}/state')).text()) === 'paid'
    document.getElementById('ways').hidden = isPaid
    if (isPaid) state.textContent = '${paidWords}'
    else setTimeout(ask, 2000)
  }
  ask()
</script>`
}
