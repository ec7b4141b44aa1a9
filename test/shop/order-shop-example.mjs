// A shop that sells tea for 25 USDT, and ships what is paid.
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const { WALLET, SHOP, AUTH_JWT_SECRET, BACKEND_JWT_SECRET, WEBHOOK_SECRET } = process.env
const orders = new Map() // in your database: the reference of an order, and whether it is shipped
const hmac = (key, content, form) => createHmac('sha256', key).update(content).digest(form)

function sign(secret, seconds, claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const content = `${part({ alg: 'HS256' })}.${part({ ...claims, exp: Math.floor(Date.now() / 1000) + seconds })}`
  return `${content}.${hmac(secret, content, 'base64url')}`
}

async function sell(uid, order = `tea-${randomUUID()}`) {
  orders.set(order, 'open') // before it is asked for: without an answer, ask again with the same reference
  const body = JSON.stringify({ orders: [{ uid, cuy: 2, amt: '25', atLeast: '24', order, take: true, return: SHOP }] })
  const authorization = `Bearer ${sign(BACKEND_JWT_SECRET, 300, { sub: 'shop', scope: 'ledger:post' })}`
  const headers = { authorization, 'content-type': 'application/json' }
  if (!(await fetch(`${WALLET}/ledger/orders`, { method: 'POST', headers, body })).ok) throw new Error('ask again')
  const token = sign(AUTH_JWT_SECRET, 86_400, { sub: `${uid}`, order })
  return `<iframe src="${WALLET}/deposit#token=${token}" title="Pay for your tea" style="width:100%;height:45rem"></iframe>`
}

function hear({ 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' }, body) {
  const right = `v1,${hmac(Buffer.from(WEBHOOK_SECRET.slice(6), 'base64'), `${id}.${time}.${body}`, 'base64')}`
  const isRight = (one) => one.length === right.length && timingSafeEqual(Buffer.from(one), Buffer.from(right))
  if (!signatures.split(' ').some(isRight) || Math.abs(Date.now() / 1000 - time) > 300) return 401
  const { type, data } = JSON.parse(body) // an event can come twice: it ships once
  if (type === 'order.paid' && data.taken && orders.get(data.order) === 'open') orders.set(data.order, 'shipped')
  return 204
}

createServer(async (request, response) => {
  const body = await text(request)
  if (request.url === '/hook') return response.writeHead(hear(request.headers, body)).end()
  const html = request.method === 'POST' ? await sell(7).catch(String) : [...orders].join() // 7: who is signed in here
  response.setHeader('content-type', 'text/html').end(html)
}).listen(new URL(SHOP).port)
