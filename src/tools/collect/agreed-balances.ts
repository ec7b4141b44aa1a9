import type { Address } from '../../chain/address.ts'
import type { Asset } from '../../chain/asset.ts'
import { balancesMax } from '../../chain/limits.ts'
import { err, ok, type Result } from '../../common/result.ts'
import { createTronClient } from '../../tron/client.ts'
import { attemptsOfRequest, retryMs } from './limits.ts'
import type { CollectNodes } from './node-access.ts'

/**
 * The newest balances of addresses, each as a quorum of the nodes agrees on it, in their order. Null where they do not: a
 * block can have come between their answers. The error is one sentence.
 */
export async function readAgreedBalances(
  nodes: CollectNodes,
  addresses: readonly Address[],
  asset: Asset,
  onProgress: (done: number) => void,
): Promise<Result<readonly (bigint | null)[], string>> {
  const balances: (bigint | null)[] = []
  for (let i = 0; i < addresses.length; i += balancesMax) {
    const read = await readPart(nodes, addresses.slice(i, i + balancesMax), asset)
    if (!read.ok) return read
    balances.push(...read.value)
    onProgress(balances.length)
  }
  return ok(balances)
}

async function readPart(
  nodes: CollectNodes,
  addresses: readonly Address[],
  asset: Asset,
): Promise<Result<readonly (bigint | null)[], string>> {
  const { chain, platform } = nodes
  let why = ''
  for (let attempt = 0; attempt < attemptsOfRequest; attempt += 1) {
    if (attempt > 0) await platform.clock.sleep(retryMs)
    const answers: (readonly bigint[])[] = []
    for (const node of chain.nodes) {
      await nodes.turn()
      const read = await createTronClient(nodes.clientOptions([node], 1)).balances(addresses, asset)
      if (read.ok) answers.push(read.value)
      else why = read.error.kind === 'no-answer' ? read.error.why : read.error.kind
      const agreed = addresses.map((_, i) => agreedOn(answers, i, chain.quorum))
      if (answers.length >= chain.quorum && !agreed.includes(null)) return ok(agreed)
    }
    if (answers.length >= chain.quorum) return ok(addresses.map((_, i) => agreedOn(answers, i, chain.quorum)))
  }
  return err(`fewer than ${chain.quorum} nodes answered with balances (${why})`)
}

function agreedOn(answers: readonly (readonly bigint[])[], i: number, quorum: number): bigint | null {
  const votes = new Map<bigint, number>()
  for (const answer of answers) {
    const units = answer[i]
    if (units === undefined) continue
    const count = (votes.get(units) ?? 0) + 1
    if (count >= quorum) return units
    votes.set(units, count)
  }
  return null
}
