import createClient from 'openapi-fetch'
import type { paths } from './wallet.d.ts'

/**
 * Lets the service look for new deposits of the user, then lists the newest ten deposits in USDT.
 */
export async function newestDeposits(baseUrl: string, token: string): Promise<string[]> {
  const service = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
  await service.GET('/tron/recharge')
  const { data: answer, error } = await service.GET('/wallet/flow/list', {
    params: { query: { cuy: 2, type: '1', limit: 10 } },
  })
  if (error) throw new Error(error.msg)
  return answer.data.list.map((flow) => `${flow.created_at} +${flow.amt} (${flow.osn})`)
}
