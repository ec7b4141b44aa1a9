import type { Uid } from '../../../src/common/ids.ts'
import type { Client } from './client.ts'
import { tokenOf } from './tokens.ts'

/** Makes a request to a deployment with a setting that contradicts what is stored: nothing may be served. */
export async function requestMisconfigured(client: Client): Promise<void> {
  const { env } = client
  const path = env.random.pick(['/tron/generate', '/tron/balance', '/tron/recharge', '/wallet/list', '/health'])
  const { status } = await client.get(path, tokenOf(1 as Uid)) // small and positive
  if (status === 503 || status === 500 || client.mayBeRefused(status)) return
  env.violate(`${path} was answered with ${status} with a wrong setting`)
}
