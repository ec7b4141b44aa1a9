import type { Client } from './client.ts'
import { invalidTokens } from './tokens.ts'

/** Makes a request without a valid token: it must be refused before anything is read for it. */
export async function requestUnauthorized(client: Client): Promise<void> {
  const { env } = client
  const path = env.random.pick([
    '/tron/generate',
    '/tron/balance',
    '/tron/recharge',
    '/wallet/list',
    '/wallet/flow/list',
  ])
  const { status } = await client.get(path, env.random.pick(invalidTokens))
  if (status !== 401) env.violate(`${path} was answered with ${status} without a valid token`)
}
