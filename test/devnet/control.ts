import { randomBytes } from 'node:crypto'
import { type Address, addressFromHex, formatBase58, parseAddress } from '../../src/worker/chain/address.ts'
import { formatUnits, parseUnits } from '../../src/worker/common/amount.ts'
import { quantity, strip0x } from '../support/hex.ts'
import type { DevnetNode, Heads } from './node.ts'
import { type ContractName, readTokenArtifact, tokenSelector } from './token/compile.ts'
import { type ContractValue, encodeRaw } from './transaction.ts'

/** A deposit. `to` is Base58Check or hex; `amount` is decimal text in whole units of 6 decimals. */
export interface PayRequest {
  readonly to: string
  readonly amount: string
  /** TRX, the test token, or a worthless TRC-10 token whose transfer looks like TRX in JSON-RPC. */
  readonly currency: 'TRX' | 'USDT' | 'TRC10'
}

/**
 * A Tron transaction that the EVM has no form of. `value` has its parameters by their names in the
 * HTTP API. Its owner is by default the payer.
 */
export interface SyntheticRequest {
  readonly type: string
  readonly value: ContractValue
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

/**
 * The ways in which a person or a test changes the chain. An invalid request throws `ControlError`.
 */
export type Control = ReturnType<typeof createControl>

/** Why a control refuses a request, in one sentence. */
export class ControlError extends Error {}

/**
 * The address of the first contract of anvil's first account: a contract's address depends only on
 * the account and on the account's number of transactions. `test/devnet/dev.vars` has it in
 * Base58Check.
 */
export const tokenAddress = '5fbdb2315678afecb367f032d93f642f64180aa3' as Address // 40 hex digits
/** The test token's address in Base58Check. */
export const tokenBase58 = formatBase58(tokenAddress)
/** The owner of the test token: anvil's first account. */
export const tokenOwner = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const payer = '70997970c51812dc3a010c7d01b50e0d17dc79c8'
const amountMax = 2n ** 53n - 1n // the HTTP API has amounts as JSON numbers
const blocksMax = 1_000
const realTypes = ['TransferContract', 'CreateSmartContract', 'TriggerSmartContract']

/** What the controls need of a chain that is kept on the disk. */
export interface ChainFile {
  /** Stores the chain with what was mined. */
  store(): Promise<void>
  /**
   * Resolves when a payment cannot be lost any more; at once where blocks are made on command only.
   */
  keepPayment(txid: string): Promise<void>
}

/** The controls of a chain. Their transactions have no signature and cost nothing. */
export function createControl({ evm, submit, heads }: DevnetNode, file: ChainFile) {
  const send = async (type: string, value: ContractValue, fails?: 'OUT_OF_ENERGY') => {
    const rawHex = encodeRaw(type, value, randomBytes(32).toString('hex'), Date.now())
    return submit({ rawHex, signature: '00'.repeat(65), settlement: null }, fails)
  }
  const call = (owner: string, contract: string, data: string, value = 0, fails?: 'OUT_OF_ENERGY') =>
    send(
      'TriggerSmartContract',
      { owner_address: `41${owner}`, contract_address: `41${contract}`, call_value: value, data: strip0x(data) },
      fails,
    )
  const sendSynthetic = async ({ type, value }: SyntheticRequest) => {
    if (realTypes.includes(type)) throw new ControlError(`The EVM has a form of ${type}: use pay or send.`)
    try {
      return await send(type, { owner_address: `41${payer}`, ...value })
    } catch {
      throw new ControlError(`There is no contract type ${String(type)} with these parameters.`)
    }
  }
  const sendPayment = async ({ to, amount, currency }: PayRequest) => {
    const target = readAddress(to)
    const units = readUnits(amount, 6)
    if (units === 0) throw new ControlError('The amount must be above zero.')
    const parties = { owner_address: `41${payer}`, to_address: `41${target}` }
    if (currency === 'TRX') return send('TransferContract', { ...parties, amount: units })
    if (currency === 'TRC10') {
      return send('TransferAssetContract', { ...parties, asset_name: '31303030303031', amount: units })
    }
    if (currency !== 'USDT') throw new ControlError('The currency must be TRX, USDT or TRC10.')
    return call(tokenOwner, tokenAddress, tokenCall('transfer(address,uint256)', target, BigInt(units)))
  }
  return {
    /** The test token's address, the same on every chain: 40 hex digits. */
    tokenAddress,
    async pay(request: PayRequest) {
      const sent = await sendPayment(request)
      await file.keepPayment(sent.txid)
      return sent
    },
    sendSynthetic,
    send: async ({ from, to, value = '0', data = '', fails }: SendRequest) =>
      call(from === undefined ? payer : readAddress(from), readAddress(to), data, readUnits(value, 0), fails),
    /** Makes blocks. The first one contains all sent transactions. */
    async mine(blocks = 1): Promise<Heads> {
      if (!Number.isInteger(blocks) || blocks < 1 || blocks > blocksMax) {
        throw new ControlError(`The number of blocks must be from 1 to ${blocksMax}.`)
      }
      await evm.call('anvil_mine', quantity(blocks))
      await file.store()
      return heads()
    },
    /** Deploys the test token if the chain does not have it yet. */
    async deployToken() {
      if (await hasToken(evm)) return
      await deploy(evm, send, 'TestUSDT')
      if (!(await hasToken(evm))) throw new Error('the test token could not be deployed at its address')
    },
    /**
     * Deploys one of the contracts, and makes a block with it. Returns its address as 40 hex
     * digits.
     */
    deploy: (name: ContractName) => deploy(evm, send, name),
    /** Gives an account a stake for energy: whole TRX that do not come from its balance. */
    stake: async ({ owner, amount }: StakeRequest) =>
      send('FreezeBalanceV2Contract', {
        owner_address: `41${readAddress(owner)}`,
        frozen_balance: readUnits(amount, 6),
        resource: 'ENERGY',
      }),
    /** Sets how many seconds after the newest block the next block will be. It makes no block. */
    async advance(seconds: number) {
      const { timestamp } = await evm.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
      await evm.call('evm_setNextBlockTimestamp', Number(timestamp) + seconds)
    },
    /** Removes the newest blocks, as a fork does. */
    async rollBack(blocks: number) {
      await evm.call('anvil_rollback', blocks)
    },
  }
}

const hasToken = async (evm: DevnetNode['evm']) =>
  (await evm.call<string>('eth_getCode', `0x${tokenAddress}`, 'latest')) !== '0x'

async function deploy(
  evm: DevnetNode['evm'],
  send: (type: string, value: ContractValue) => Promise<unknown>,
  name: ContractName,
): Promise<Address> {
  const bytecode = strip0x(readTokenArtifact(name).bytecode)
  await send('CreateSmartContract', { owner_address: `41${tokenOwner}`, bytecode, name, abi: [] })
  await evm.call('anvil_mine', '0x1')
  const receipts = await evm.call<{ contractAddress: string | null }[]>('eth_getBlockReceipts', 'latest')
  return readAddress(receipts.findLast(({ contractAddress }) => contractAddress !== null)?.contractAddress)
}

/**
 * Call data (`0x` and hex digits) of one of the token's functions that take an address and a
 * number.
 */
export function tokenCall(signature: string, address: string, value: bigint): string {
  return `0x${tokenSelector(signature)}${address.padStart(64, '0')}${value.toString(16).padStart(64, '0')}`
}

/** Base58Check or 20 bytes of hex, as 40 hex digits. */
function readAddress(given: unknown): Address {
  const text = String(given)
  const fromHex = addressFromHex(text)
  if (fromHex !== null) return fromHex
  const parsed = parseAddress(text)
  if (parsed.ok) return parsed.value
  throw new ControlError(`"${text}" is not a Tron address (${parsed.error}).`)
}

/** Parses a decimal text of whole units. Returns smallest units. */
function readUnits(given: unknown, decimals: number): number {
  const parsed = typeof given === 'string' ? parseUnits(given, decimals) : null
  if (parsed?.ok && parsed.value <= amountMax) return Number(parsed.value)
  const why = parsed?.ok
    ? `it is above ${formatUnits(amountMax, decimals)}, the most that one transfer can have here`
    : `it must be a decimal with at most ${decimals} decimals`
  throw new ControlError(`"${String(given)}" is not an amount: ${why}.`)
}
