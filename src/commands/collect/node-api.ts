import * as z from 'zod/mini'
import { type Address, formatBase58 } from '../../worker/chain/address.ts'
import {
  type ChainPrices,
  type EnergyEstimate,
  optionalAmount,
  optionalCount,
  parsedWith,
  parseEstimate,
  parsePrices,
  plainText,
  type TokenTransfer,
  transferCall,
} from '../node-replies.ts'
import { type AgreedNodes, type AgreedReading, ifEqual } from '../nodes.ts'
import type { AccountResources } from './collect-address.ts'

// Requests to the nodes' HTTP APIs (PROTOCOL.md, Collecting). If the nodes fail, each function
// throws as `AgreedNodes` does.

export interface NodeAccount {
  readonly sun: bigint
  /** Whether the address's own key alone controls the account. */
  readonly hasOwnKey: boolean
  readonly isContract: boolean
}

const leastOf = <T extends bigint | number>(a: T, b: T): T => (a < b ? a : b)

/** Reads the prices of the chain. */
export function readPrices(nodes: AgreedNodes): Promise<ChainPrices> {
  return nodes.agree('getchainparameters', {}, { parse: parsePrices, merge: ifEqual })
}

const keyList = z.optional(z.array(z.object({ address: z.string() })))
const accountSchema = z.object({
  address: z.optional(z.string()),
  balance: optionalAmount,
  type: z.optional(z.string()),
  owner_permission: z.optional(z.object({ keys: keyList })),
})

/**
 * Reads an account; null if it does not exist. An address that has only received tokens has no
 * account.
 */
export function readAccount(nodes: AgreedNodes, address: Address): Promise<NodeAccount | null> {
  const base58 = formatBase58(address)
  const parse = parsedWith(accountSchema, (reply): NodeAccount | null | undefined => {
    if (reply.address === undefined) return null
    if (reply.address !== base58) return undefined
    const keys = reply.owner_permission?.keys ?? [{ address: base58 }]
    const hasOwnKey = keys.length === 1 && keys[0]?.address === base58
    return { sun: reply.balance, hasOwnKey, isContract: reply.type === 'Contract' }
  })
  // A block may have come between the replies, so the smaller balance counts.
  const merge: AgreedReading<NodeAccount | null>['merge'] = (a, b) => {
    const sun = leastOf(a?.sun ?? 0n, b?.sun ?? 0n)
    return ifEqual(a && { ...a, sun }, b && { ...b, sun })
  }
  return nodes.agree('getaccount', { address: base58, visible: true }, { parse, merge })
}

const resourceSchema = z.object({
  freeNetUsed: optionalCount,
  freeNetLimit: optionalCount,
  NetUsed: optionalCount,
  NetLimit: optionalCount,
  EnergyUsed: optionalCount,
  EnergyLimit: optionalCount,
  TotalEnergyLimit: optionalCount,
  TotalEnergyWeight: optionalCount,
})

/** The unused resources of an account, and the yield of stakes. */
export interface ResourceReading extends AccountResources {
  /**
   * The network gives `energy` units a day for `weight` staked TRX. Both are 0 if the account does
   * not exist.
   */
  readonly total: { readonly energy: number; readonly weight: number }
}

/**
 * Reads the unused resources of an account. They change with each block, so nodes may differ, and
 * the smallest value of each resource counts.
 */
export function readResources(nodes: AgreedNodes, address: Address): Promise<ResourceReading> {
  const left = (limit: number, used: number) => Math.max(0, limit - used)
  const parse = parsedWith(resourceSchema, (reply) => ({
    energy: left(reply.EnergyLimit, reply.EnergyUsed),
    stakedBytes: left(reply.NetLimit, reply.NetUsed),
    freeBytes: left(reply.freeNetLimit, reply.freeNetUsed),
    total: { energy: reply.TotalEnergyLimit, weight: reply.TotalEnergyWeight },
  }))
  const merge = (a: ResourceReading, b: ResourceReading): ResourceReading => ({
    energy: leastOf(a.energy, b.energy),
    stakedBytes: leastOf(a.stakedBytes, b.stakedBytes),
    freeBytes: leastOf(a.freeBytes, b.freeBytes),
    total: a.total.energy * b.total.weight < b.total.energy * a.total.weight ? a.total : b.total,
  })
  return nodes.agree('getaccountresource', { address: formatBase58(address), visible: true }, { parse, merge })
}

/** Reads the sun of an account's energy stake that it can delegate now. */
export function readDelegatable(nodes: AgreedNodes, owner: Address): Promise<bigint> {
  const parse = parsedWith(z.object({ max_size: optionalAmount }), ({ max_size }) => max_size)
  const body = { owner_address: formatBase58(owner), type: 1, visible: true }
  return nodes.agree('getcandelegatedmaxsize', body, { parse, merge: leastOf })
}

const delegation = z.object({
  frozen_balance_for_energy: optionalAmount,
  expire_time_for_energy: z.optional(z.unknown()),
})
const delegatedSchema = z.object({ delegatedResource: z.optional(z.array(delegation)) })

/**
 * Reads the sun that `from` has delegated to `to` for energy and can take back. Locked sun is not
 * included.
 */
export function readDelegated(nodes: AgreedNodes, from: Address, to: Address): Promise<bigint> {
  const parse = parsedWith(delegatedSchema, ({ delegatedResource = [] }) =>
    delegatedResource
      .filter(({ expire_time_for_energy: lockedUntil }) => lockedUntil === undefined)
      .reduce((sum, { frozen_balance_for_energy: sun }) => sum + sun, 0n),
  )
  const body = { fromAddress: formatBase58(from), toAddress: formatBase58(to), visible: true }
  return nodes.agree('getdelegatedresourcev2', body, { parse, merge: leastOf })
}

const receiversSchema = z.object({ toAccounts: z.optional(z.array(z.string())) })

/** Reads the accounts to which `from` delegates, each as `T…`. */
export function readReceivers(nodes: AgreedNodes, from: Address): Promise<ReadonlySet<string>> {
  const parse = parsedWith(receiversSchema, ({ toAccounts = [] }) => new Set(toAccounts))
  // a wrong account does no harm: `readDelegated` asks about each
  const merge = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a, ...b])
  const body = { value: formatBase58(from), visible: true }
  return nodes.agree('getdelegatedresourceaccountindexv2', body, { parse, merge })
}

/** Estimates the energy of a transfer. If answers differ, the highest counts. */
export function estimateTransfer(nodes: AgreedNodes, transfer: TokenTransfer): Promise<EnergyEstimate> {
  const merge: AgreedReading<EnergyEstimate>['merge'] = (a, b) => {
    if (a.kind !== b.kind) return undefined
    return a.kind === 'energy' && b.kind === 'energy' && a.energy < b.energy ? b : a
  }
  const otherwise = (): EnergyEstimate => ({ kind: 'refused', why: 'the nodes contradict each other about it' })
  const reading = { parse: parseEstimate, merge, otherwise }
  return nodes.agree('triggerconstantcontract', transferCall(transfer), reading)
}

/**
 * A node's answer to a broadcast. `code` is `SUCCESS`, or the reason for which the node refuses the
 * transaction.
 */
export interface BroadcastAnswer {
  readonly code: string
  /** The node's explanation in its own words; empty if it gives none. */
  readonly message: string
}

const broadcastSchema = z.object({
  result: z.optional(z.boolean()),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
})
/** After these codes the node may accept the same transaction a moment later. */
const temporaryCodes = ['SERVER_BUSY', 'NO_CONNECTION', 'NOT_ENOUGH_EFFECTIVE_CONNECTION', 'BLOCK_UNSOLIDIFIED']
const bestCodes = ['SUCCESS', 'DUP_TRANSACTION_ERROR', ...temporaryCodes]
/**
 * The node says that the transaction has expired. An earlier run may have sent it in time, so only
 * a final block after the expiration proves that no block contains it.
 */
const expiredCode = 'TRANSACTION_EXPIRATION_ERROR'

/**
 * Whether the transaction can still succeed after this answer: a node may accept it later, or says
 * that it has expired.
 */
export const isUndecided = ({ code }: BroadcastAnswer): boolean => temporaryCodes.includes(code) || code === expiredCode

/**
 * Broadcasts a signed transaction through all nodes, because a single node may not pass it on.
 * Returns the best answer. If every answer is a refusal, and fewer than a quorum answer, the
 * transaction is sent again: a node that did not answer may have accepted it.
 */
export async function broadcast(nodes: AgreedNodes, transaction: string): Promise<BroadcastAnswer> {
  const parse = parsedWith(broadcastSchema, ({ result, code, message = '' }) => {
    if (result === true) return { code: 'SUCCESS', message: '' }
    return code === undefined ? undefined : { code, message: plainText(message) }
  })
  const rank = ({ code }: BroadcastAnswer) => (bestCodes.includes(code) ? bestCodes.indexOf(code) : bestCodes.length)
  const suffices = (answer: BroadcastAnswer) => rank(answer) < bestCodes.length
  const answers = await nodes.postAll('broadcasthex', { transaction }, parse, suffices)
  const [best = { code: 'OTHER_ERROR', message: '' }] = answers.toSorted((a, b) => rank(a) - rank(b))
  return best
}

const explanations: Readonly<Record<string, string>> = {
  TAPOS_ERROR: 'its reference block is not on this chain: another chain, a fork, or a plan that is too old',
  SIGERROR: 'its signature is not that of its address',
  BANDWITH_ERROR: 'its account has neither bandwidth nor TRX for its bytes',
}

/** Explains in words why a node refuses a transaction. */
export function explainNodeRefusal({ code, message }: BroadcastAnswer): string {
  const text = message.replace(/^Contract validate error : /, '')
  return explanations[code] ?? `the node refuses it: ${text === '' ? code : text}`
}
