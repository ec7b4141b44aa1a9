import type { Uid } from '../../../src/worker/common/ids.ts'
import type { Client } from './client.ts'
import { invalidTokens, tokenOf } from './tokens.ts'

const paths = ['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list'] as const

/**
 * Makes a request to a deployment with a setting that contradicts what is stored: nothing may be
 * served.
 */
export async function requestMisconfigured(client: Client): Promise<void> {
  const { env } = client
  const path = env.random.pick([...paths, '/health'])
  const { status } = await client.get(path, tokenOf(env, 1 as Uid)) // safe: a user's number
  if (status === 503 || status === 500 || client.mayBeRefused(status)) return
  env.violate(`${path} was answered with ${status} with a wrong setting`)
}

/** Makes a request without a valid token: it must be refused before anything is read for it. */
export async function requestUnauthorized(client: Client): Promise<void> {
  const { env } = client
  const path = env.random.pick([...paths, '/wallet/flow/list'])
  const { status } = await client.get(path, env.random.pick(invalidTokens(env)))
  if (status !== 401) env.violate(`${path} was answered with ${status} without a valid token`)
}
