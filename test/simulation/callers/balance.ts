import { type Address, formatBase58 } from '../../../src/worker/chain/address.ts'
import { formatUnits } from '../../../src/worker/common/amount.ts'
import type { Uid } from '../../../src/worker/common/ids.ts'
import { offered } from '../deployed.ts'
import { observe } from '../observed.ts'
import type { Client } from './client.ts'
import { tokenOf } from './tokens.ts'

/**
 * Asks what the chain has for the caller. The answer is one node's reply, so it can be old or
 * false; but it must be the sum of what nodes replied just now about the caller's own addresses, of
 * all of them and of no others.
 */
export async function readBalance(client: Client, uid: Uid): Promise<void> {
  const { env, stored } = client
  const since = env.scheduler.now() - rememberedMs
  const { random, owners } = env
  const currency = random.pick(offered(env))
  const asked = owners.size > 0 && random.chance(0.3) ? random.pick([...owners.keys()]) : null
  const query = `cuy=${currency.cuy}${asked === null ? '' : `&address=${formatBase58(asked)}`}`
  const own = observe(env, () => stored.addressesOf(uid).map(({ address }) => address))
  const { status, data } = await client.get(`/tron/balance?${query}`, tokenOf(env, uid))
  const states = own.end()
  if (client.mayBeRefused(status)) return
  if (status === 404) {
    if (asked === null || owners.get(asked) === uid) env.violate(`${uid} was refused the balance of an own address`)
    return
  }
  if (status !== 200) {
    if (status < 500) env.violate(`balance was answered with ${status}`)
    return
  }
  if (asked !== null && owners.get(asked) !== uid) env.violate(`${uid} was shown the balance of another caller`)
  const recent = env.balanceReplies.slice(env.balanceReplies.findLastIndex(({ at }) => at < since) + 1)
  const replies = recent.filter(({ contract }) => contract === currency.contract)
  const wanted = asked === null ? states : [[asked]]
  const possible = wanted.flatMap((addresses) => possibleSums(addresses, replies))
  if (!possible.some((sum) => formatUnits(sum, currency.decimals) === data?.amt)) {
    env.violate(`${uid} was shown a balance of ${data?.amt}, which no node replied`)
  }
}

/**
 * How old a node's reply may be at the request: an isolate uses an answer for one block time, and a
 * request takes up to ten seconds.
 */
const rememberedMs = 15_000

/**
 * All sums that take one reply for each address. There can be several, because a request that
 * failed is repeated at another node.
 */
function possibleSums(
  addresses: readonly Address[],
  replies: readonly { readonly address: Address; readonly balance: bigint }[],
): readonly bigint[] {
  let sums = [0n]
  for (const address of addresses) {
    const own = new Set(replies.filter((reply) => reply.address === address).map(({ balance }) => balance))
    sums = [...new Set(sums.flatMap((sum) => [...own].map((balance) => sum + balance)))]
  }
  return sums
}
