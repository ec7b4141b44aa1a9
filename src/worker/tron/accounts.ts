import { type Address, formatBase58 } from '../chain/address.ts'
import type { Asset } from '../chain/block.ts'
import { balancesMax, type ChainResult } from '../chain/chain.ts'
import { err, ok } from '../common/result.ts'
import { agreeOnOne, collect, failureOf, firstAnswer } from './agreement.ts'
import { askApi, askOne, askRpc } from './ask.ts'
import { balanceCall, decimalsCall, parseResult, tokenBalanceCall } from './json-rpc.ts'
import { batchCallsMax } from './limits.ts'
import type { Session, TronNode } from './node.ts'
import { type NodeResult, nodeError } from './node-errors.ts'
import { isCount, isObject, type Parsed, parseQuantity, parseUint256 } from './parse/fields.ts'

/** Reads the newest balances of at most `balancesMax` addresses from one node, in chain units. */
export async function readBalances(
  session: Session,
  addresses: readonly Address[],
  asset: Asset,
): ChainResult<readonly bigint[]> {
  if (addresses.length === 0) return ok([])
  if (addresses.length > balancesMax) return err({ kind: 'no-answer', why: `${addresses.length} balances at once` })
  return firstAnswer(session, 'rpc', (node, nodeSession) => balancesAt(nodeSession, node, heldBy(addresses, asset)))
}

/**
 * Reads the newest balances of one address from several nodes. For each asset the `quorum`-th
 * smallest answer counts. So lying nodes, if they are fewer than `quorum`, cannot make a balance
 * look too small. If 2 × `quorum` − 1 nodes answer, they cannot make a balance look too large
 * either.
 */
export async function readHoldings(
  session: Session,
  address: Address,
  assets: readonly Asset[],
): ChainResult<readonly bigint[]> {
  const { quorum } = session.pool
  const held = assets.map((asset) => ({ address, asset }))
  const query = (node: TronNode, nodeSession: Session) => balancesAt(nodeSession, node, held)
  const { answers, errors } = await collect(session, 'rpc', query, (all) => 2 * quorum - 1 - all.length)
  if (answers.length < quorum) return err(failureOf(session, errors))
  const inOrder = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
  return ok(assets.map((_, i) => answers.map(({ value }) => value[i] ?? 0n).sort(inOrder)[quorum - 1] ?? 0n))
}

/** A balance to read: an address and an asset. */
interface Held {
  readonly address: Address
  readonly asset: Asset
}

const heldBy = (addresses: readonly Address[], asset: Asset): readonly Held[] =>
  addresses.map((address) => ({ address, asset }))

/**
 * Reads balances from one node. Its batch may have one call more than other batches, so that 20
 * balances and the node's chain id take one request. The chain id in each batch makes it
 * unnecessary to probe the node first.
 */
function balancesAt(session: Session, node: TronNode, held: readonly Held[]): NodeResult<readonly bigint[]> {
  const calls = held.map(({ address, asset }) =>
    asset.kind === 'native' ? balanceCall(address) : tokenBalanceCall(asset.contract, address),
  )
  const parseAt = (i: number) => (held[i]?.asset.kind === 'native' ? parseSun : parseUint256)
  return askRpc(session, node, calls, (reply, i) => parseResult(reply, 'a balance', parseAt(i)), batchCallsMax + 1)
}

function parseSun(value: unknown): Parsed<bigint> {
  const sun = parseQuantity(value)
  return sun === null ? err('not a quantity') : ok(sun)
}

/**
 * Returns the index of the first of at most `balancesMax` addresses that holds the asset according
 * to any of `quorum` nodes; null if none does. So a lying node can claim that an empty address
 * holds something, but cannot hide what an address holds.
 */
export async function findHolder(
  session: Session,
  addresses: readonly Address[],
  asset: Asset,
): ChainResult<number | null> {
  const { quorum } = session.pool
  const query = (node: TronNode, nodeSession: Session) => balancesAt(nodeSession, node, heldBy(addresses, asset))
  const { answers, errors } = await collect(session, 'rpc', query, (all) => quorum - all.length)
  const index = addresses.findIndex((_, i) => answers.some(({ value }) => (value[i] ?? 0n) > 0n))
  if (index !== -1) return ok(index)
  return answers.length < quorum ? err(failureOf(session, errors)) : ok(null)
}

/**
 * Whether the address has an account on the chain according to any of `quorum` nodes. One node is
 * not enough to deny it, because that node may be behind. The account of an address that was
 * emptied stays.
 */
export async function isActivated(session: Session, address: Address): ChainResult<boolean> {
  const { quorum } = session.pool
  const text = formatBase58(address)
  const query = (node: TronNode, nodeSession: Session) =>
    askApi(nodeSession, node, '/wallet/getaccount', { address: text, visible: true }, (value) => {
      if (!isObject(value)) return nodeError('bad-answer', 'no account')
      if (Object.keys(value).length === 0) return ok(false)
      return value.address === text ? ok(true) : nodeError('bad-answer', 'another account')
    })
  const { answers, errors } = await collect(session, 'api', query, (all) => quorum - all.length)
  if (answers.some(({ value }) => value)) return ok(true)
  return answers.length < quorum ? err(failureOf(session, errors)) : ok(false)
}

/**
 * Reads the unused energy of an address. If nodes differ, as after a block between two replies, the
 * most counts: one liar cannot hide energy.
 */
export async function readEnergy(session: Session, address: Address): ChainResult<number> {
  const { quorum } = session.pool
  const body = { address: formatBase58(address), visible: true }
  const query = (node: TronNode, nodeSession: Session) =>
    askApi(nodeSession, node, '/wallet/getaccountresource', body, (value) => {
      const { EnergyLimit: limit = 0, EnergyUsed: used = 0 } = isObject(value) ? value : { EnergyLimit: null }
      if (!isCount(limit) || !isCount(used)) return nodeError('bad-answer', 'no resources')
      return ok(Math.max(limit - used, 0))
    })
  const { answers, errors } = await collect(session, 'api', query, (all) => quorum - all.length)
  if (answers.length < quorum) return err(failureOf(session, errors))
  return ok(Math.max(...answers.map(({ value }) => value)))
}

/** Reads `decimals()` of a contract, agreed by `quorum` nodes. */
export async function readDecimals(session: Session, contract: Address): ChainResult<number> {
  const about = `decimals of ${contract}`
  const agreed = await agreeOnOne(session, 'chain', about, async (node, nodeSession) => {
    const result = await askOne(nodeSession, node, decimalsCall(contract), (reply) =>
      parseResult(reply, 'decimals', parseUint8),
    )
    return result.ok
      ? ok([{ about: { contract }, canonicalText: String(result.value), logs: '', value: result.value }])
      : result
  })
  return agreed.ok ? ok(agreed.value.value) : agreed
}

function parseUint8(value: unknown): Parsed<number> {
  const number = parseUint256(value)
  if (!number.ok) return number
  return number.value > 255n ? err('more than a uint8') : ok(Number(number.value))
}
