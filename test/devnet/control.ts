import { randomBytes } from 'node:crypto'
import { bytesToHex } from '@noble/hashes/utils.js'
import { type Address, addressFromHex, formatBase58, parseAddress } from '../../src/chain/address.ts'
import { parseUnits } from '../../src/common/amount.ts'
import {
  type ContractName,
  type ContractParameters,
  type ContractSpec,
  contractSpecs,
  isContractName,
} from '../support/contracts.ts'
import { quantity, strip0x } from '../support/hex.ts'
import { encodeRaw } from './encode-transaction.ts'
import type { Evm } from './evm.ts'
import type { DevnetNode, Heads } from './node.ts'
import type { SentTransaction, Submit } from './submit.ts'
import { readTokenArtifact, tokenSelector } from './token/compile.ts'

/** TRX, the test token, or a worthless TRC-10 token whose transfer looks like TRX in JSON-RPC. */
export type PayCurrency = 'TRX' | 'USDT' | 'TRC10'

/** A deposit. `to` is Base58Check or hex; `amount` is decimal text in whole units of 6 decimals. */
export interface PayRequest {
  readonly to: string
  readonly amount: string
  readonly currency: PayCurrency
}

/** A Tron transaction that the EVM has no form of. `amount` is decimal text in smallest units, by default `1000000`. */
export interface SyntheticRequest {
  readonly type: ContractName
  readonly to?: string
  readonly owner?: string
  readonly amount?: string
}

/** A call of a contract. `value` is sun as decimal text, `data` hex. */
export interface SendRequest {
  readonly from?: string
  readonly to: string
  readonly value?: string
  readonly data?: string
  readonly fails?: 'OUT_OF_ENERGY'
}

/** `amount` is decimal text in TRX. */
export interface StakeRequest {
  readonly owner: string
  readonly amount: string
}

/** The ways in which a person or a test changes the chain. An invalid request throws `ControlError`. */
export interface Control {
  /** The test token's address, the same on every chain: 40 hex digits. */
  readonly tokenAddress: Address
  pay(request: PayRequest): Promise<SentTransaction>
  sendSynthetic(request: SyntheticRequest): Promise<SentTransaction>
  send(request: SendRequest): Promise<SentTransaction>
  /** Makes blocks; the first contains all sent transactions. A block is final after two more. */
  mine(blocks?: number): Promise<Heads>
  /** Deploys the test token if the chain does not have it yet. */
  deployToken(): Promise<void>
  /** Gives an account a stake for energy: whole TRX that do not come from its balance. */
  stake(request: StakeRequest): Promise<SentTransaction>
  /** Makes the next block this many seconds later. */
  advance(seconds: number): Promise<void>
  /** Removes the newest blocks, as a fork does. */
  rollBack(blocks: number): Promise<void>
}

/** Why a control refuses a request, in one sentence. */
export class ControlError extends Error {}

/**
 * The address of the first contract of anvil's first account: a contract's address depends only on the account and on
 * the account's number of transactions. `test/devnet/dev.vars` has it in Base58Check.
 */
export const tokenAddress = '5fbdb2315678afecb367f032d93f642f64180aa3' as Address // 40 hex digits
/** The test token's address in Base58Check. */
export const tokenBase58 = formatBase58(tokenAddress)

const deployer = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const payer = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
const amountMax = 2n ** 63n - 1n // an int64 in the transaction's bytes
const blocksMax = 1_000
const realTypes = new Set<ContractName>(['TransferContract', 'CreateSmartContract', 'TriggerSmartContract'])

/** Sends a transaction without a signature and without costs. */
type Send = (
  type: ContractName,
  parameters: Partial<ContractParameters> & Pick<ContractParameters, 'owner'>,
  fails?: 'OUT_OF_ENERGY',
) => Promise<SentTransaction>

/** The controls of a chain. */
export function createControl(node: DevnetNode, submit: Submit): Control {
  const { evm } = node
  const send: Send = (type, parameters, fails) => {
    const memo = randomBytes(32).toString('hex')
    const raw = encodeRaw(type, { target: null, amount: 0n, code: '', ...parameters }, memo, Date.now())
    return submit({ rawHex: bytesToHex(raw), signature: '00'.repeat(65), settlement: null }, fails)
  }
  return {
    tokenAddress,
    pay: async (request) => pay(send, request),
    sendSynthetic: async (request) => sendSynthetic(send, request),
    send: async ({ from, to, value = '0', data = '', fails }) => {
      const owner = from === undefined ? payer : readAddress(from)
      const call = { owner, target: readAddress(to), amount: readUnits(value), code: strip0x(data) }
      return send('TriggerSmartContract', call, fails)
    },
    async mine(blocks = 1) {
      if (!Number.isInteger(blocks) || blocks < 1 || blocks > blocksMax) {
        throw new ControlError(`The number of blocks must be from 1 to ${blocksMax}.`)
      }
      await evm.call('anvil_mine', quantity(blocks))
      return node.heads()
    },
    deployToken: () => deployToken(evm, send),
    stake: async ({ owner, amount }) =>
      sendSynthetic(send, { type: 'FreezeBalanceV2Contract', owner, amount: `${readAmount(amount)}` }),
    async advance(seconds) {
      const { timestamp } = await evm.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      await evm.call('evm_setNextBlockTimestamp', Number(timestamp) + seconds)
    },
    async rollBack(blocks) {
      await evm.call('anvil_rollback', blocks)
    },
  }
}

/** Call data of one of the token's functions that take an address and a number. */
export function tokenCall(signature: string, address: string, value: bigint): string {
  return `0x${tokenSelector(signature)}${address.padStart(64, '0')}${value.toString(16).padStart(64, '0')}`
}

function pay(send: Send, { to, amount, currency }: PayRequest): Promise<SentTransaction> {
  const target = readAddress(to)
  const units = readAmount(amount)
  switch (currency) {
    case 'TRX':
      return send('TransferContract', { owner: payer, target, amount: units })
    case 'USDT': {
      const code = strip0x(tokenCall('transfer(address,uint256)', target, units))
      return send('TriggerSmartContract', { owner: deployer, target: tokenAddress, code })
    }
    case 'TRC10':
      return sendSynthetic(send, { type: 'TransferAssetContract', to, amount: `${units}` })
    default:
      throw new ControlError('The currency must be TRX, USDT or TRC10.')
  }
}

async function deployToken(evm: Evm, send: Send): Promise<void> {
  if (await hasToken(evm)) return
  if ((await evm.call<string>('eth_getTransactionCount', `0x${deployer}`, 'latest')) !== '0x0') {
    throw new Error('the chain has no test token at its address')
  }
  await send('CreateSmartContract', { owner: deployer, code: strip0x(readTokenArtifact().bytecode) })
  await evm.call('anvil_mine', '0x1')
  if (!(await hasToken(evm))) throw new Error('the test token could not be deployed')
}

async function hasToken(evm: Evm): Promise<boolean> {
  return (await evm.call<string>('eth_getCode', `0x${tokenAddress}`, 'latest')) !== '0x'
}

function sendSynthetic(
  send: Send,
  { type, to, owner = payer, amount = '1000000' }: SyntheticRequest,
): Promise<SentTransaction> {
  if (typeof type !== 'string' || !isContractName(type)) {
    throw new ControlError(`There is no contract type ${String(type)}.`)
  }
  if (realTypes.has(type)) throw new ControlError(`The EVM has a form of ${type}: use pay or send.`)
  const spec: ContractSpec = contractSpecs[type]
  if (spec.showsTarget && to === undefined) throw new ControlError(`A ${type} needs "to".`)
  const target = to === undefined ? null : readAddress(to)
  return send(type, { owner: readAddress(owner), target, amount: readUnits(amount) })
}

/** Base58Check or 20 bytes of hex, as 40 hex digits. */
function readAddress(given: unknown): Address {
  if (typeof given !== 'string') throw new ControlError('An address must be text.')
  const fromHex = addressFromHex(given)
  if (fromHex !== null) return fromHex
  const parsed = parseAddress(given)
  if (parsed.ok) return parsed.value
  throw new ControlError(`${given} is not a Tron address.`)
}

function readAmount(given: unknown): bigint {
  const parsed = typeof given === 'string' ? parseUnits(given, 6) : null
  if (!parsed?.ok || parsed.value === 0n || parsed.value > amountMax) {
    throw new ControlError('The amount must be a decimal above zero with at most 6 decimals, as text.')
  }
  return parsed.value
}

function readUnits(given: unknown): bigint {
  const parsed = typeof given === 'string' ? parseUnits(given, 0) : null
  if (!parsed?.ok || parsed.value > amountMax) {
    throw new ControlError('A value must be an integer of smallest units, as text.')
  }
  return parsed.value
}
