/**
 * A node's HTTP API: what scanning and collecting ask, with the members of java-tron 4.8.0 that
 * they read.
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatBase58, formatHex, parseAddress } from '../../src/worker/chain/address.ts'
import { strip0x } from '../support/hex.ts'
import { chainPrices, totalEnergy } from './accounts.ts'
import { type MinedTransaction, renderMined } from './blocks.ts'
import { createBroadcast, isActive, traceCall } from './broadcast.ts'
import { ControlError } from './control.ts'
import type { DevnetNode } from './node.ts'
import { tokenSelector } from './token/compile.ts'

export type Body = Readonly<Record<string, unknown>>
/** A path of the HTTP API. What cannot be parsed is answered with `{ Error }`, as by a node. */
export type WalletCall = (body: Body) => Promise<unknown>

/** The dynamic price of all contracts: the energy of a call is multiplied by `factor`. */
export interface EnergyPrice {
  factor: number
}

const zeroFree = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 0 && value !== false && value !== ''))
const hexText = (text: string) => bytesToHex(utf8ToBytes(text))

/**
 * The paths, as java-tron has them: HTTP status 200 for everything, zero and false members left
 * out, `{}` for what is not there.
 */
export function createWalletCalls(node: DevnetNode, price: EnergyPrice): ReadonlyMap<string, WalletCall> {
  const broadcast = createBroadcast(node, () => price.factor)
  return new Map<string, WalletCall>([
    ['getblockbylimitnext', (body) => getBlocks(node, body)],
    ['getchainparameters', async () => ({ chainParameter: chainParameters })],
    ['getaccount', (body) => getAccount(node, body)],
    ['getaccountresource', (body) => getAccountResource(node, body)],
    ['getcandelegatedmaxsize', (body) => getDelegatable(node, body)],
    ['getdelegatedresourcev2', (body) => getDelegated(node, body)],
    ['getdelegatedresourceaccountindexv2', (body) => getReceivers(node, body)],
    ['triggerconstantcontract', (body) => callConstant(node, body, price)],
    ['broadcasthex', ({ transaction }) => broadcast(typeof transaction === 'string' ? transaction : '')],
    ['gettransactioninfobyid', (body) => getInfo(node, body)],
  ])
}

const chainParameters = [
  { key: 'getCreateAccountFee', value: chainPrices.createAccountFee },
  { key: 'getTransactionFee', value: chainPrices.sunPerByte },
  { key: 'getCreateNewAccountFeeInSystemContract', value: chainPrices.newAccountFee },
  { key: 'getEnergyFee', value: chainPrices.sunPerEnergy },
  { key: 'getMaxFeeLimit', value: chainPrices.feeLimitMax },
  { key: 'getFreeNetLimit', value: chainPrices.freeNetLimit },
  { key: 'getAllowUpdateAccountName' }, // off: a value of zero is left out
]

/** An address of a request: Base58Check with `visible`, else 21 bytes of hex. */
function readAddress(body: Body, name: string): Address {
  const given = body[name]
  const text = typeof given === 'string' ? given : ''
  const parsed = body.visible === true ? parseAddress(text) : null
  const address = parsed === null ? addressFromHex(text.replace(/^41(?=.{40}$)/, '')) : parsed.ok ? parsed.value : null
  if (address === null)
    throw new ControlError('class org.tron.core.services.http.JsonFormat$ParseException : 1:13: INVALID')
  return address
}

const blocksMax = 100

/**
 * `getblockbylimitnext`: the blocks from `startNum` to the one before `endNum`, at most 100; `{}`
 * where there are none.
 */
async function getBlocks(node: DevnetNode, { startNum, endNum }: Body): Promise<unknown> {
  if (!isHeight(startNum) || !isHeight(endNum)) return {}
  if (endNum <= startNum || endNum - startNum > blocksMax) return {}
  const blocks = await node.blocksAt(startNum, endNum - 1)
  return blocks.length === 0 ? {} : { block: blocks.map((one) => renderMined(one).api()) }
}

function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

async function getAccount(node: DevnetNode, body: Body): Promise<unknown> {
  const address = readAddress(body, 'address')
  if (!(await isActive(node, address))) return {}
  const name = body.visible === true ? formatBase58(address) : formatHex(address)
  return zeroFree({
    address: name,
    balance: Number(await node.balance(address)),
    owner_permission: { permission_name: 'owner', threshold: 1, keys: [{ address: name, weight: 1 }] },
  })
}

async function getAccountResource(node: DevnetNode, body: Body): Promise<unknown> {
  const address = readAddress(body, 'address')
  if (!(await isActive(node, address))) return {}
  const { accounts, now } = await node.accounts()
  return zeroFree({
    freeNetUsed: accounts.freeNetUsed(address, now),
    freeNetLimit: chainPrices.freeNetLimit,
    EnergyUsed: accounts.energyUsed(address, now),
    EnergyLimit: accounts.energyLimit(address),
    TotalEnergyLimit: totalEnergy.limit,
    TotalEnergyWeight: totalEnergy.weight,
  })
}

async function getDelegatable(node: DevnetNode, body: Body): Promise<unknown> {
  const { accounts, now } = await node.accounts()
  if (body.type !== 1) return {} // no account has a stake for bandwidth
  return zeroFree({ max_size: Number(accounts.delegatable(readAddress(body, 'owner_address'), now)) })
}

async function getDelegated(node: DevnetNode, body: Body): Promise<unknown> {
  const [from, to] = [readAddress(body, 'fromAddress'), readAddress(body, 'toAddress')]
  const { accounts } = await node.accounts()
  const energy = accounts.delegation(from, to)
  if (energy === 0n) return {}
  const amounts = { frozen_balance_for_energy: Number(energy) }
  return { delegatedResource: [{ from: body.fromAddress, to: body.toAddress, ...amounts }] }
}

async function getReceivers(node: DevnetNode, body: Body): Promise<unknown> {
  const { accounts } = await node.accounts()
  const toAccounts = accounts.receivers(readAddress(body, 'value')).map((hex) => {
    const address = hex as Address // safe: 40 hex digits of a transaction
    return body.visible === true ? formatBase58(address) : formatHex(address)
  })
  return { account: body.value, ...(toAccounts.length === 0 ? {} : { toAccounts }) }
}

async function callConstant(node: DevnetNode, body: Body, price: EnergyPrice): Promise<unknown> {
  const [from, to] = [readAddress(body, 'owner_address'), readAddress(body, 'contract_address')]
  const data = `${tokenSelector(String(body.function_selector))}${String(body.parameter ?? '')}`
  if (!/^([0-9a-f]{2})*$/i.test(data)) {
    return { result: { code: 'OTHER_ERROR', message: hexText('DecoderException : exception decoding Hex string') } }
  }
  if ((await node.evm.call<string>('eth_getCode', `0x${to}`, 'pending')) === '0x') {
    return { result: { code: 'CONTRACT_VALIDATE_ERROR', message: hexText('Smart contract is not exist.') } }
  }
  const { energy, isReverted, output } = await traceCall(node.evm, { from, to, data }, price.factor)
  return {
    result: { result: true, ...(isReverted ? { message: hexText('REVERT opcode executed') } : {}) },
    energy_used: energy,
    constant_result: [output],
    transaction: { ret: [isReverted ? { ret: 'FAILED' } : {}] },
  }
}

async function getInfo(node: DevnetNode, { value }: Body): Promise<unknown> {
  const id = typeof value === 'string' ? strip0x(value).toLowerCase() : ''
  if (!/^[0-9a-f]*$/.test(id)) throw new ControlError('class JsonFormat$ParseException : 1:10: INVALID hex String')
  const found = await node.findTransaction(id)
  if (found?.kind !== 'mined') return {}
  const { transaction, block } = found
  const isFailed = transaction.ret !== 'SUCCESS'
  const { fee, ...receipt } = receiptOf(transaction)
  return {
    id,
    ...zeroFree({ fee }),
    blockNumber: block.height,
    blockTimeStamp: Number(block.timestamp) * 1_000,
    receipt: zeroFree(receipt),
    ...(isFailed ? { result: 'FAILED', resMessage: hexText(failureText(transaction.ret)) } : {}),
    ...(await internalsOf(node, transaction)),
  }
}

/** A call in anvil's trace, with the calls that it made. */
interface Frame {
  readonly type: string
  readonly from: string
  readonly to?: string
  readonly value?: string
  readonly error?: string
  readonly calls?: readonly Frame[]
}

/**
 * The internal transactions of a transaction in the order of the calls, each caller before what it
 * calls, as a node with `vm.saveInternalTx` shows them. Anvil cannot trace transactions from before
 * its last start. For these no internal transactions are shown, as by a node that has not kept
 * them.
 */
async function internalsOf({ evm }: DevnetNode, { tron, evmHash }: MinedTransaction): Promise<object> {
  if (tron.type !== 'TriggerSmartContract' && tron.type !== 'CreateSmartContract') return {}
  const trace = await evm.call<Frame>('debug_traceTransaction', evmHash, { tracer: 'callTracer' }).catch(() => null)
  if (trace === null) return {}
  const below = (frame: Frame, isUndone: boolean): object[] =>
    (frame.calls ?? []).flatMap((call) => {
      const isRejected = isUndone || call.error !== undefined
      return [internalOf(call, isRejected), ...below(call, isRejected)]
    })
  const list = below(trace, trace.error !== undefined)
  return list.length === 0 ? {} : { internal_transactions: list }
}

function internalOf({ type, from, to = from, value = '0x0' }: Frame, isRejected: boolean): object {
  const sun = type === 'DELEGATECALL' || type === 'STATICCALL' ? 0 : Number(value)
  const note = type.startsWith('CREATE') ? 'create' : type === 'SELFDESTRUCT' ? 'suicide' : 'call'
  return {
    caller_address: `41${strip0x(from)}`,
    transferTo_address: `41${strip0x(to)}`,
    callValueInfo: [zeroFree({ callValue: sun })],
    note: hexText(note),
    ...zeroFree({ rejected: isRejected }),
  }
}

const failureText = (ret: string) =>
  ret === 'OUT_OF_ENERGY' ? "Not enough energy for 'SSTORE' operation executing" : 'REVERT opcode executed'

function receiptOf({ tron, energy, ret }: MinedTransaction) {
  const result = tron.type === 'TriggerSmartContract' ? ret : ''
  const { settlement } = tron
  if (settlement === null) return { fee: 0, energy_usage_total: Number(energy), result }
  return {
    fee: settlement.energyFee + settlement.netFee + settlement.activationFee,
    energy_usage: settlement.energyUsage,
    energy_fee: settlement.energyFee,
    energy_usage_total: settlement.energyTotal,
    net_usage: settlement.netUsage,
    result,
  }
}
