import type { Ledger } from '../../src/worker/index.ts'

/**
 * Takes 2.5 USDT of user 7 for an order (`POST /pay/1001`), and gives back what was paid
 * (`POST /refund/1001`), each once.
 */
export default {
  async fetch(request, { LEDGER }) {
    if (request.method !== 'POST') return new Response('POST only', { status: 405, headers: { allow: 'POST' } })
    const [, action, order] = new URL(request.url).pathname.split('/')
    const key = { uid: 7, cuy: 2, osn: `order-${order}` }
    let entry = { ...key, type: 4 as 4 | 5, amt: '-2.5', mark: 'two cups' }
    if (action === 'refund') {
      const found = await LEDGER.entries({ ...key, type: 4 }) // the user's payment for this order
      if (!found.ok) return new Response(found.error.why, { status: 503 })
      const [payment] = found.list
      if (payment === undefined) return new Response(`order ${order} was not paid`, { status: 404 })
      entry = { ...entry, type: 5, amt: payment.amt.slice(1) } // without its sign
    }
    const posted = await LEDGER.post([entry], 'shop')
    if (posted.ok) return Response.json({ balance: posted.entries[0]?.balance, replayed: posted.replayed })
    // the buyer can try again: a post that is sent twice is stored once
    return new Response(posted.error.why, { status: 402 })
  },
} satisfies ExportedHandler<{ LEDGER: Service<typeof Ledger> }>
