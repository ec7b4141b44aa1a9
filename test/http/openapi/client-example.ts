import { hc } from 'hono/client'
import type { AppType } from '../../../src/worker/http/openapi/client.ts'

/** Makes the service check for new deposits, then lists the user's newest ten deposits in USDT. */
export async function newestDeposits(base: string, token: string): Promise<string[]> {
  const service = hc<AppType>(base, { headers: { authorization: `Bearer ${token}` } })
  await service.tron.recharge.$get()
  const answer = await service.wallet.flow.list.$get({ query: { cuy: '2', type: '1', limit: '10' } })
  if (!answer.ok) throw new Error((await answer.json()).msg)
  const { data } = await answer.json()
  return data.list.map((flow) => `${flow.created_at} +${flow.amt} (${flow.osn})`)
}
