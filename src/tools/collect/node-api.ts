import * as z from 'zod/mini'
import { type Address, formatBase58, formatHex } from '../../chain/address.ts'
import type { AccountResources, ChainPrices, EnergyEstimate } from './collect-address.ts'
import { type AgreedReading, type CollectNodes, ifEqual } from './nodes.ts'

// What is asked of the nodes' HTTP APIs (PROTOCOL.md, Collecting). If the nodes fail, each function throws as `CollectNodes` does.

/** An account as a node has it. */
export interface NodeAccount {
  readonly sun: bigint
  /** Whether the address's own key alone owns the account. */
  readonly hasOwnKey: boolean
  readonly isContract: boolean
}

/** A transaction that is in a block. */
export interface MinedInfo {
  readonly height: number
  readonly isSuccess: boolean
  /** The node's own text of a failure. */
  readonly message: string
  /** All that it burnt, in sun. */
  readonly fee: bigint
  /** All energy that it used. */
  readonly energy: number
}

const amount = z.optional(z.int().check(z.gte(0)))
const count = (value: number | undefined) => value ?? 0
const leastOf = <T extends bigint | number>(a: T, b: T): T => (a < b ? a : b)
const parsedWith =
  <T, R>(schema: z.ZodMiniType<T>, map: (value: T) => R | undefined) =>
  (reply: unknown) => {
    const parsed = schema.safeParse(reply)
    return parsed.success ? map(parsed.data) : undefined
  }

const parameterList = z.object({ chainParameter: z.array(z.object({ key: z.string(), value: z.optional(z.int()) })) })

/** The prices of the chain. Nothing of them is known in advance. */
export function readPrices(nodes: CollectNodes): Promise<ChainPrices> {
  const parse = parsedWith(parameterList, ({ chainParameter }) => {
    const values = new Map(chainParameter.map(({ key, value }) => [key, value ?? 0]))
    const of = (key: string) => BigInt(values.get(key) ?? -1)
    const prices = {
      sunPerByte: of('getTransactionFee'),
      sunPerEnergy: of('getEnergyFee'),
      createAccountFee: of('getCreateAccountFee'),
      newAccountFee: of('getCreateNewAccountFeeInSystemContract'),
      feeLimitMax: of('getMaxFeeLimit'),
      freeBytes: Number(of('getFreeNetLimit')),
    }
    return Object.values(prices).some((price) => price < 0) ? undefined : prices
  })
  return nodes.agree('getchainparameters', {}, { parse, merge: ifEqual })
}

const keyList = z.optional(z.array(z.object({ address: z.string() })))
const accountSchema = z.object({
  address: z.optional(z.string()),
  balance: amount,
  type: z.optional(z.string()),
  owner_permission: z.optional(z.object({ keys: keyList })),
})

/** An account, or null if there is none: an address that only received tokens has none. */
export function readAccount(nodes: CollectNodes, address: Address): Promise<NodeAccount | null> {
  const base58 = formatBase58(address)
  const parse = parsedWith(accountSchema, (reply): NodeAccount | null | undefined => {
    if (reply.address === undefined) return null
    if (reply.address !== base58) return undefined
    const keys = reply.owner_permission?.keys ?? [{ address: base58 }]
    const hasOwnKey = keys.length === 1 && keys[0]?.address === base58
    return { sun: BigInt(count(reply.balance)), hasOwnKey, isContract: reply.type === 'Contract' }
  })
  // A block can have come between the replies: of the balance the smaller one counts.
  const merge: AgreedReading<NodeAccount | null>['merge'] = (a, b) => {
    const sun = leastOf(a?.sun ?? 0n, b?.sun ?? 0n)
    return ifEqual(a && { ...a, sun }, b && { ...b, sun })
  }
  return nodes.agree('getaccount', { address: base58, visible: true }, { parse, merge })
}

const resourceSchema = z.object({
  freeNetUsed: amount,
  freeNetLimit: amount,
  NetUsed: amount,
  NetLimit: amount,
  EnergyUsed: amount,
  EnergyLimit: amount,
  TotalEnergyLimit: amount,
  TotalEnergyWeight: amount,
})

/** What an account has left, and what stakes give. */
export interface ResourceReading extends AccountResources {
  /** Energy of a day for `weight` staked TRX; zeros if the account does not exist. */
  readonly total: { readonly energy: number; readonly weight: number }
}

/** The resources of an account now. They change with each block: what the node with the least says is there. */
export function readResources(nodes: CollectNodes, address: Address): Promise<ResourceReading> {
  const left = (limit: number | undefined, used: number | undefined) => Math.max(0, count(limit) - count(used))
  const parse = parsedWith(resourceSchema, (reply) => ({
    energy: left(reply.EnergyLimit, reply.EnergyUsed),
    stakedBytes: left(reply.NetLimit, reply.NetUsed),
    freeBytes: left(reply.freeNetLimit, reply.freeNetUsed),
    total: { energy: count(reply.TotalEnergyLimit), weight: count(reply.TotalEnergyWeight) },
  }))
  const merge = (a: ResourceReading, b: ResourceReading): ResourceReading => ({
    energy: leastOf(a.energy, b.energy),
    stakedBytes: leastOf(a.stakedBytes, b.stakedBytes),
    freeBytes: leastOf(a.freeBytes, b.freeBytes),
    total: a.total.energy * b.total.weight < b.total.energy * a.total.weight ? a.total : b.total,
  })
  return nodes.agree('getaccountresource', { address: formatBase58(address), visible: true }, { parse, merge })
}

/** Sun of an account's energy stake that it can delegate now. */
export function readDelegatable(nodes: CollectNodes, owner: Address): Promise<bigint> {
  const parse = parsedWith(z.object({ max_size: amount }), ({ max_size }) => BigInt(count(max_size)))
  const body = { owner_address: formatBase58(owner), type: 1, visible: true }
  return nodes.agree('getcandelegatedmaxsize', body, { parse, merge: leastOf })
}

const delegation = z.object({ frozen_balance_for_energy: amount, expire_time_for_energy: amount })
const delegatedSchema = z.object({ delegatedResource: z.optional(z.array(delegation)) })

/** Sun that `from` delegated to `to` for energy and can take back: what is locked stays out. */
export function readDelegated(nodes: CollectNodes, from: Address, to: Address): Promise<bigint> {
  const parse = parsedWith(delegatedSchema, ({ delegatedResource = [] }) =>
    delegatedResource
      .filter(({ expire_time_for_energy: lockedUntil }) => lockedUntil === undefined)
      .reduce((sum, { frozen_balance_for_energy: sun }) => sum + BigInt(count(sun)), 0n),
  )
  const body = { fromAddress: formatBase58(from), toAddress: formatBase58(to), visible: true }
  return nodes.agree('getdelegatedresourcev2', body, { parse, merge: leastOf })
}

const receiversSchema = z.object({ toAccounts: z.optional(z.array(z.string())) })

/** The accounts that `from` delegates to, each as `T…`. */
export function readReceivers(nodes: CollectNodes, from: Address): Promise<ReadonlySet<string>> {
  const parse = parsedWith(receiversSchema, ({ toAccounts = [] }) => new Set(toAccounts))
  const merge = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a, ...b]) // each is then asked about
  const body = { value: formatBase58(from), visible: true }
  return nodes.agree('getdelegatedresourceaccountindexv2', body, { parse, merge })
}

const callSchema = z.object({
  result: z.object({ result: z.optional(z.boolean()), message: z.optional(z.string()) }),
  energy_used: amount,
  constant_result: z.optional(z.array(z.string())),
  transaction: z.optional(z.object({ ret: z.optional(z.array(z.object({ ret: z.optional(z.string()) }))) })),
})
/** `Error(string)`, a word for the offset and one for the length. */
const revertText = /^08c379a0.{64}.{64}((?:[0-9a-f]{2})*?)(?:00)*$/

/** A transfer of a token; `parameter` is its call data without the selector. */
export interface TokenTransfer {
  readonly from: Address
  readonly contract: Address
  readonly parameter: string
}

/** The energy of a transfer, with the penalty of a busy contract: of different answers the higher one. The question changes nothing. */
export function estimateTransfer(nodes: CollectNodes, transfer: TokenTransfer): Promise<EnergyEstimate> {
  const parse = parsedWith(callSchema, (reply): EnergyEstimate => {
    const { result, energy_used: energy, constant_result: [output = ''] = [], transaction } = reply
    const isFailed = result.result !== true || transaction?.ret?.[0]?.ret === 'FAILED' || result.message !== undefined
    if (!isFailed && energy !== undefined) return { kind: 'energy', energy }
    const text = textOf(revertText.exec(output)?.[1] ?? '') || textOf(result.message ?? '')
    return { kind: 'refused', why: text || 'it reverts' }
  })
  const { from, contract, parameter } = transfer
  const call = { function_selector: 'transfer(address,uint256)', parameter }
  const body = { owner_address: formatHex(from), contract_address: formatHex(contract), ...call }
  const merge: AgreedReading<EnergyEstimate>['merge'] = (a, b) => {
    if (a.kind !== b.kind) return undefined
    return a.kind === 'energy' && b.kind === 'energy' && a.energy < b.energy ? b : a
  }
  const otherwise = (): EnergyEstimate => ({ kind: 'refused', why: 'the nodes contradict each other about it' })
  return nodes.agree('triggerconstantcontract', body, { parse, merge, otherwise })
}

/** A node's answer to a broadcast. `code` is `SUCCESS`, or the node's code for why it refuses the transaction. */
export interface BroadcastAnswer {
  readonly code: string
  /** The node's own text, for the report. */
  readonly message: string
}

const broadcastSchema = z.object({
  result: z.optional(z.boolean()),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
})
/** Codes after which the same transaction can be taken a moment later. */
const temporaryCodes = ['SERVER_BUSY', 'NO_CONNECTION', 'NOT_ENOUGH_EFFECTIVE_CONNECTION', 'BLOCK_UNSOLIDIFIED']
const bestCodes = ['SUCCESS', 'DUP_TRANSACTION_ERROR', ...temporaryCodes]
/** An earlier run can have sent the transaction in time: only a final block after the expiration shows that it is in none. */
const expiredCode = 'TRANSACTION_EXPIRATION_ERROR'

/** Whether a later look decides: a node may take the transaction when it is sent again, or it has expired for the node. */
export const isUndecided = ({ code }: BroadcastAnswer): boolean => temporaryCodes.includes(code) || code === expiredCode

/**
 * Sends the bytes of a signed transaction to all nodes: one that keeps it to itself stops nothing. The answer is the best
 * one. If fewer than a quorum refuse it and the others fail, one of those can have taken it: it is sent again.
 */
export async function broadcast(nodes: CollectNodes, transaction: string): Promise<BroadcastAnswer> {
  const parse = parsedWith(broadcastSchema, ({ result, code, message = '' }) => {
    if (result === true) return { code: 'SUCCESS', message: '' }
    return code === undefined ? undefined : { code, message: plain(message) }
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

/** Why a node does not take a transaction, in words. */
export function explainNodeRefusal({ code, message }: BroadcastAnswer): string {
  const text = message.replace(/^Contract validate error : /, '')
  return explanations[code] ?? `the node refuses it: ${text === '' ? code : text}`
}

const infoSchema = z.object({
  id: z.optional(z.string()),
  blockNumber: amount,
  fee: amount,
  result: z.optional(z.string()),
  resMessage: z.optional(z.string()),
  receipt: z.optional(z.object({ energy_usage_total: amount, result: z.optional(z.string()) })),
})

/**
 * A transaction that is in a block, or null if it is in none. A quorum must say the same: a node that is behind, or has no history,
 * says "in no block" of what is in one. Only this distinguishes a pending transaction from a mined one.
 */
export function readInfo(nodes: CollectNodes, txid: string): Promise<MinedInfo | null> {
  const parse = parsedWith(infoSchema, (reply): MinedInfo | null | undefined => {
    const { id, blockNumber: height, fee, result, resMessage = '', receipt } = reply
    if (id === undefined) return null
    if (id !== txid || height === undefined) return undefined
    const isSuccess = result === undefined && (receipt?.result ?? 'SUCCESS') === 'SUCCESS'
    const message = textOf(resMessage) || (receipt?.result ?? '')
    return { height, isSuccess, message, fee: BigInt(count(fee)), energy: count(receipt?.energy_usage_total) }
  })
  const describe = (info: MinedInfo | null) => (info === null ? 'in no block' : `in block ${info.height}`)
  return nodes.agree('gettransactioninfobyid', { value: txid }, { parse, merge: ifEqual, describe })
}

/** A node's text as hex of UTF-8. */
const textOf = (hex: string) => (/^(?:[0-9a-f]{2})+$/i.test(hex) ? plain(Buffer.from(hex, 'hex').toString('utf8')) : '')
/** A node's text as it is printed: without control characters and anything long. */
const plain = (text: string) =>
  text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, 160)
