/**
 * A pretend shop for `npm start`. It sells tea for 25 USDT to user 1. The deposit page asks for the
 * amount, in a frame or on a page of its own. The shop takes the payment from the buyer's wallet as
 * soon as the wallet has it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { deskAddress, localBackendToken, localUserToken } from '../devnet/local.ts'
import { embeddingExample } from '../pages/embedding-page.ts'
import { type Order, signPaymentToken } from './payment-token-example.ts'

export interface DemoShopParts {
  /** The origin of the service. */
  wallet(): string
  /**
   * Signs the tokens of buyers (`AUTH_JWT_SECRET`) and of the shop itself (`BACKEND_JWT_SECRET`).
   */
  readonly secrets: { readonly callers: string; readonly backends: string }
}

interface ShopOrder extends Order {
  isPaid: boolean
}

/**
 * Makes the shop, which keeps its orders in memory. The receiver of events calls `settle` after
 * each event.
 */
export function createDemoShop({ wallet, secrets }: DemoShopParts) {
  const orders = new Map<string, ShopOrder>()
  const create = () => {
    const since = Math.floor(Date.now() / 1_000)
    const order = {
      id: `${1041 + orders.size}-${since}`,
      uid: 1,
      buyer: 'Anna Wei',
      amount: '25',
      since,
      isPaid: false,
    }
    orders.set(order.id, order)
    return order
  }
  const settle = async () => {
    for (const order of orders.values())
      if (!order.isPaid) order.isPaid = await takePayment(wallet(), secrets.backends, order)
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
    if (kind === '')
      return send(response, page('<form method="post" action="/orders"><button>Buy tea, 25 USDT</button></form>'))
    if (kind === 'orders' && request.method === 'POST') {
      return void response.writeHead(303, { location: `/orders/${create().id}` }).end()
    }
    if (kind === 'docs-tokens')
      return void response.writeHead(303, { location: await docsWithTokens(searchParams) }).end()
    if (kind === 'desk')
      return void response.writeHead(303, { location: await deskAddress(wallet(), secrets.backends) }).end()
    if (order === undefined) return void response.writeHead(404).end()
    if (what === 'state') return send(response, order.isPaid ? 'paid' : 'open')
    const token = await signPaymentToken(order, origin, secrets.callers)
    if (what === 'token') return send(response, token)
    send(response, page(orderPage(order, wallet(), token)))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  return { server, settle }
}

/**
 * Takes the payment from the buyer's wallet, once. Returns false while the deposits since the order
 * are less than its amount. The page counts the same deposits: a wallet with older money would
 * otherwise be charged while the page still asks for the payment.
 */
async function takePayment(wallet: string, secret: string, { id, uid, amount, since }: Order): Promise<boolean> {
  const headers = { authorization: `Bearer ${await localBackendToken(secret)}`, 'content-type': 'application/json' }
  const read = await fetch(`${wallet}/ledger/deposits?uid=${uid}&cuy=2&state=credited&limit=100`, { headers })
  if (!read.ok) return false
  // safe: the service's own answer
  const { data } = (await read.json()) as { data: { list: readonly { amt: number; created_at: string }[] } }
  const own = data.list.filter(({ created_at }) => Date.parse(created_at) >= since * 1_000)
  const units = (amt: number) => Math.round(amt * 1_000_000)
  if (own.reduce((sum, { amt }) => sum + units(amt), 0) < units(Number(amount))) return false
  const entry = { uid, cuy: 2, type: 4, osn: `order-${id}`, amt: `-${amount}`, mark: 'tea' }
  const body = JSON.stringify({ entries: [entry] })
  return (await fetch(`${wallet}/ledger/entries`, { method: 'POST', headers, body })).ok
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

function orderPage({ id, amount, isPaid }: ShopOrder, wallet: string, token: string): string {
  const order = `<p>Order ${id}: tea, ${amount} USDT. <strong id="state" role="status">${isPaid ? paidWords : 'Not paid yet'}</strong></p>`
  if (isPaid) return `${order}\n<p><a href="/">Buy more</a></p>`
  return `${order}
<p>Pay here, or <a href="${wallet}/deposit#token=${token}" target="_blank" rel="noopener">on a page of its own</a>.</p>
${embeddingExample(wallet, `/orders/${id}/token`)}
<script>
  const state = document.getElementById('state')
  const hints = {
    waiting: 'Waiting for your payment',
    seen: 'Your payment is on its way',
    'partly-paid': 'A part of it is there, the rest is missing',
    paid: 'Your payment is there: we are taking it',
  }
  let isPaid = false
  addEventListener('deposit', ({ detail }) => {
    if (!isPaid) state.textContent = hints[detail.state] // what the page says is a hint: the shop's own server decides
  })
  const ask = async () => {
    isPaid = (await (await fetch('/orders/${id}/state')).text()) === 'paid'
    if (isPaid) state.textContent = '${paidWords}'
    else setTimeout(ask, 2000)
  }
  ask()
</script>`
}
