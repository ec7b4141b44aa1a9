import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import { type Address, formatBase58, formatHex } from '../../chain/address.ts'
import { ok, type Result } from '../../common/result.ts'
import type { AgreedReading } from './agreed-replies.ts'
import type { AccountResources, ChainPrices, EnergyEstimate } from './facts.ts'
import type { CollectNodes } from './node-access.ts'
import { type BroadcastAnswer, isTemporary } from './refusals.ts'

/** An account as a node has it (PROTOCOL.md, Collecting). */
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
  /** All energy that it used, and the part that was burnt. */
  readonly energy: number
}

const number = z.optional(z.int().check(z.gte(0)))
const count = (value: number | undefined) => value ?? 0
const leastOf = <T extends bigint | number>(a: T, b: T): T => (a < b ? a : b)
const parsedWith =
  <T, R>(schema: z.ZodMiniType<T>, map: (value: T) => R | null) =>
  (value: unknown) => {
    const parsed = schema.safeParse(value)
    return parsed.success ? map(parsed.data) : null
  }

const parameterList = z.object({ chainParameter: z.array(z.object({ key: z.string(), value: z.optional(z.int()) })) })

/** Replies that must be equal. */
const ifEqual = <T>(a: T, b: T): T | null => (isDeepStrictEqual(a, b) ? a : null)

/** The prices of the chain. Nothing of them is known in advance. */
export function readPrices(nodes: CollectNodes): Promise<Result<ChainPrices, string>> {
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
    return Object.values(prices).some((price) => price < 0) ? null : prices
  })
  return nodes.agree('getchainparameters', {}, { parse, merge: ifEqual })
}

const accountSchema = z.object({
  address: z.optional(z.string()),
  balance: number,
  type: z.optional(z.string()),
  owner_permission: z.optional(
    z.object({ threshold: number, keys: z.optional(z.array(z.object({ address: z.string() }))) }),
  ),
})

/** An account. One that only received tokens does not exist (`null`). */
export function readAccount(
  nodes: CollectNodes,
  address: Address,
): Promise<Result<{ account: NodeAccount | null }, string>> {
  const own = formatBase58(address)
  const parse = parsedWith(accountSchema, (reply) => {
    if (reply.address === undefined) return { account: null }
    if (reply.address !== own) return null
    const keys = reply.owner_permission?.keys ?? [{ address: own }]
    const hasOwnKey = keys.length === 1 && keys[0]?.address === own
    return { account: { sun: BigInt(count(reply.balance)), hasOwnKey, isContract: reply.type === 'Contract' } }
  })
  // A block can have come between the replies: of the balance the smaller one counts.
  const merge: AgreedReading<{ account: NodeAccount | null }>['merge'] = ({ account: a }, { account: b }) => {
    if (a === null || b === null) return a === b ? { account: a } : null
    const sun = leastOf(a.sun, b.sun)
    return ifEqual({ ...a, sun }, { ...b, sun }) && { account: { ...a, sun } }
  }
  return nodes.agree('getaccount', { address: own, visible: true }, { parse, merge })
}

const resourceSchema = z.object({
  freeNetUsed: number,
  freeNetLimit: number,
  NetUsed: number,
  NetLimit: number,
  EnergyUsed: number,
  EnergyLimit: number,
  TotalEnergyLimit: number,
  TotalEnergyWeight: number,
})

/** What an account has left, and what stakes give. */
export interface ResourceReading extends AccountResources {
  /** Energy of a day for `weight` staked TRX; zeros where the account does not exist. */
  readonly total: { readonly energy: number; readonly weight: number }
}

/** The resources of an account now. */
export function readResources(nodes: CollectNodes, address: Address): Promise<Result<ResourceReading, string>> {
  const left = (limit: number | undefined, used: number | undefined) => Math.max(0, count(limit) - count(used))
  const parse = parsedWith(resourceSchema, (reply) => ({
    energy: left(reply.EnergyLimit, reply.EnergyUsed),
    stakedBytes: left(reply.NetLimit, reply.NetUsed),
    freeBytes: left(reply.freeNetLimit, reply.freeNetUsed),
    total: { energy: count(reply.TotalEnergyLimit), weight: count(reply.TotalEnergyWeight) },
  }))
  // These change with each block: what the node with the least says is there.
  const merge = (a: ResourceReading, b: ResourceReading): ResourceReading => ({
    energy: leastOf(a.energy, b.energy),
    stakedBytes: leastOf(a.stakedBytes, b.stakedBytes),
    freeBytes: leastOf(a.freeBytes, b.freeBytes),
    total: a.total.energy * b.total.weight < b.total.energy * a.total.weight ? a.total : b.total,
  })
  return nodes.agree('getaccountresource', { address: formatBase58(address), visible: true }, { parse, merge })
}

const maxSizeSchema = z.object({ max_size: number })

/** Sun of an account's energy stake that it can delegate now. */
export function readDelegatable(nodes: CollectNodes, owner: Address): Promise<Result<bigint, string>> {
  const parse = parsedWith(maxSizeSchema, ({ max_size }) => BigInt(count(max_size)))
  const body = { owner_address: formatBase58(owner), type: 1, visible: true }
  return nodes.agree('getcandelegatedmaxsize', body, { parse, merge: leastOf })
}

const delegatedSchema = z.object({
  delegatedResource: z.optional(
    z.array(z.object({ frozen_balance_for_energy: number, expire_time_for_energy: number })),
  ),
})

/** Sun that `from` delegated to `to` for energy and can take back: what is locked stays out. */
export function readDelegated(nodes: CollectNodes, from: Address, to: Address): Promise<Result<bigint, string>> {
  const parse = parsedWith(delegatedSchema, ({ delegatedResource = [] }) =>
    delegatedResource.reduce(
      (sum, { frozen_balance_for_energy: sun, expire_time_for_energy: lockedUntil }) =>
        lockedUntil === undefined ? sum + BigInt(count(sun)) : sum,
      0n,
    ),
  )
  const body = { fromAddress: formatBase58(from), toAddress: formatBase58(to), visible: true }
  return nodes.agree('getdelegatedresourcev2', body, { parse, merge: leastOf })
}

const indexSchema = z.object({ toAccounts: z.optional(z.array(z.string())) })

/** The accounts that `from` delegates to, each as `T…`. */
export function readReceivers(nodes: CollectNodes, from: Address): Promise<Result<ReadonlySet<string>, string>> {
  const parse = parsedWith(indexSchema, ({ toAccounts = [] }) => new Set(toAccounts))
  const merge = (a: ReadonlySet<string>, b: ReadonlySet<string>) => new Set([...a, ...b]) // each is then asked about
  const body = { value: formatBase58(from), visible: true }
  return nodes.agree('getdelegatedresourceaccountindexv2', body, { parse, merge })
}

const callSchema = z.object({
  result: z.object({ result: z.optional(z.boolean()), code: z.optional(z.string()), message: z.optional(z.string()) }),
  energy_used: number,
  constant_result: z.optional(z.array(z.string())),
  transaction: z.optional(z.object({ ret: z.optional(z.array(z.object({ ret: z.optional(z.string()) }))) })),
})
/** `Error(string)`, a word for the offset and one for the length. */
const revertText = /^08c379a0.{64}.{64}((?:[0-9a-f]{2})*?)(?:00)*$/
const failureText = 'it reverts'

/** The energy of a token transfer by a constant call: with the penalty of a busy contract, on the newest state. */
export function estimateTransfer(
  nodes: CollectNodes,
  transfer: { readonly from: Address; readonly contract: Address; readonly parameter: string },
): Promise<Result<EnergyEstimate, string>> {
  const parse = parsedWith(callSchema, (reply): EnergyEstimate => {
    const { result, energy_used: energy, constant_result: [output = ''] = [], transaction } = reply
    const isFailed = result.result !== true || transaction?.ret?.[0]?.ret === 'FAILED' || result.message !== undefined
    if (!isFailed && energy !== undefined) return { kind: 'energy', energy }
    const text = textOf(revertText.exec(output)?.[1] ?? '') || textOf(result.message ?? '')
    return { kind: 'refused', why: text || failureText }
  })
  const { from, contract, parameter } = transfer
  const call = { function_selector: 'transfer(address,uint256)', parameter }
  const body = { owner_address: formatHex(from), contract_address: formatHex(contract), ...call }
  const merge: AgreedReading<EnergyEstimate>['merge'] = (a, b) => {
    if (a.kind !== b.kind) return null
    return a.kind === 'energy' && b.kind === 'energy' && a.energy < b.energy ? b : a
  }
  const otherwise: EnergyEstimate = { kind: 'refused', why: 'the nodes contradict each other about it' }
  return nodes.agree('triggerconstantcontract', body, { parse, merge, otherwise })
}

const broadcastSchema = z.object({
  result: z.optional(z.boolean()),
  code: z.optional(z.string()),
  message: z.optional(z.string()),
})

/**
 * Sends the bytes of a signed transaction to all nodes: one that keeps it to itself stops nothing. The answer is the best
 * one. A failure of all nodes is an error: whether one took it is then unknown.
 */
export async function broadcast(nodes: CollectNodes, transaction: string): Promise<Result<BroadcastAnswer, string>> {
  const parse = parsedWith(broadcastSchema, ({ result, code, message = '' }) => {
    if (result === true) return { code: 'SUCCESS', message: '' }
    return code === undefined ? null : { code, message: plain(message) }
  })
  const answers = await nodes.postAll('broadcasthex', { transaction }, parse)
  if (!answers.ok) return answers
  const rank = ({ code }: BroadcastAnswer) =>
    code === 'SUCCESS' ? 0 : code === 'DUP_TRANSACTION_ERROR' ? 1 : isTemporary(code) ? 2 : 3
  const [best = { code: 'OTHER_ERROR', message: '' }] = answers.value.toSorted((a, b) => rank(a) - rank(b))
  return ok(best)
}

const infoSchema = z.object({
  id: z.optional(z.string()),
  blockNumber: number,
  fee: number,
  result: z.optional(z.string()),
  resMessage: z.optional(z.string()),
  receipt: z.optional(z.object({ energy_usage_total: number, result: z.optional(z.string()) })),
})

/**
 * A transaction that is in a block, or null where it is in none, or not in that of a quorum yet. Only this distinguishes a
 * pending one from a mined one.
 */
export async function readInfo(nodes: CollectNodes, txid: string): Promise<Result<MinedInfo | null, string>> {
  const parse = parsedWith(infoSchema, ({ id, blockNumber, fee, result, resMessage = '', receipt }) => {
    if (id === undefined) return { info: null }
    if (id !== txid || blockNumber === undefined) return null
    const isSuccess = result === undefined && (receipt?.result ?? 'SUCCESS') === 'SUCCESS'
    const message = textOf(resMessage) || (receipt?.result ?? '')
    const energy = count(receipt?.energy_usage_total)
    return { info: { height: blockNumber, isSuccess, message, fee: BigInt(count(fee)), energy } }
  })
  const reading: AgreedReading<{ info: MinedInfo | null }> = { parse, merge: ifEqual, otherwise: { info: null } }
  const answer = await nodes.agree('gettransactioninfobyid', { value: txid }, reading)
  return answer.ok ? ok(answer.value.info) : answer
}

/** A node's text as hex of UTF-8, with control characters and anything long removed. */
function textOf(hex: string): string {
  return /^(?:[0-9a-f]{2})+$/i.test(hex) ? plain(Buffer.from(hex, 'hex').toString('utf8')) : ''
}

/** Characters of a node's text that are printed. */
const textMax = 160

function plain(text: string): string {
  return text
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, textMax)
}
