import type { Ledger } from '../../src/index.ts'

/** A shop that takes 2.5 USDT of user 7 for an order (`/pay/1001`) and gives it back (`/refund/1001`), each once. */
export default {
  async fetch(request, { LEDGER }) {
    const [, action, order] = new URL(request.url).pathname.split('/')
    const what = action === 'refund' ? ({ type: 5, amt: '2.5' } as const) : ({ type: 4, amt: '-2.5' } as const)
    const posted = await LEDGER.post([{ uid: 7, cuy: 2, osn: `order-${order}`, ...what, mark: 'two cups' }], 'shop')
    if (posted.ok) return Response.json({ balance: posted.entries[0]?.balance, replayed: posted.replayed })
    return new Response(posted.error.why, { status: 402 }) // sent again, a post is never stored twice
  },
} satisfies ExportedHandler<{ LEDGER: Service<typeof Ledger> }>
