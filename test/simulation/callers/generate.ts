import { parseAddress } from '../../../src/worker/chain/address.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import { observe } from '../observed.ts'
import type { Client } from './client.ts'
import { tokenOf } from './tokens.ts'

/**
 * One caller can have this many addresses without a deposit; then the service issues no further
 * one.
 */
const gapLimit = 20

/**
 * Asks for the caller's address. The shown address must be the caller's own, and the start of the
 * scan must be stored before an address is shown. `freshCount` counts the requests with `fresh=1`.
 * Beside the first address, the caller may have at most one address for each of these requests.
 */
export async function generate(client: Client, uid: Uid, fresh: boolean, freshCount: Map<Uid, number>): Promise<void> {
  const { env, stored } = client
  if (fresh) freshCount.set(uid, (freshCount.get(uid) ?? 0) + 1)
  const unpaid = observe(env, () => stored.countUnpaid(uid))
  const { status, data } = await client.get(`/tron/generate${fresh ? '?fresh=1' : ''}`, tokenOf(env, uid))
  const unpaidCounts = unpaid.end()
  if (status === 409) {
    if (!fresh || Math.max(...unpaidCounts) < gapLimit) env.violate(`${uid} was refused an address below the gap limit`)
    return
  }
  if (client.mayBeRefused(status)) return
  if (status !== 200) {
    if (status < 500) env.violate(`generate was answered with ${status}`)
    return
  }
  const shown = parseAddress(String(data?.address))
  if (!shown.ok) return env.violate(`${uid} was shown ${data?.address}, which is no address`)
  const address = shown.value
  if (stored.scan() === undefined) env.violate(`${address} was shown before the start of the scan was stored`)
  const own = stored.addressesOf(uid).filter(({ forOrders }) => forOrders === 0)
  if (!own.some((one) => one.address === address && String(one.id) === data?.id)) {
    env.violate(`${address} was shown to ${uid}, who is not its owner`)
  }
  if (own.length > 1 + (freshCount.get(uid) ?? 0)) env.violate(`${uid} has ${own.length} addresses without asking`)
  env.shown.set(address, uid)
}
