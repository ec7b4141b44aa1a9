import { type Address, addressFromHex, formatBase58, parseAddress } from '../../src/addresses/address.ts'
import { parseUnits } from '../../src/ledger/amount.ts'
import type { Evm } from './anvil.ts'
import { type ContractSpec, type ContractType, contractSpecs, isContractType } from './contracts.ts'
import { quantity } from './hex.ts'
import type { TronNode } from './node.ts'
import { carrierAddress, writeCarried } from './synthetic-transaction.ts'
import { readTokenArtifact, tokenSelector } from './token/compile.ts'

/** What `pay` sends: the coin, the test token, or a worthless TRC-10 that JSON-RPC shows as if it were the coin. */
export type PayCurrency = 'TRX' | 'USDT' | 'TRC10'

/** `to` is Base58Check or hex; `amount` is decimal text in whole units of 6 decimals. */
export interface PayRequest {
  readonly to: string
  readonly amount: string
  readonly currency: PayCurrency
}

/** A Tron transaction that an EVM can't make. `amount` is decimal text in smallest units, `1000000` where it is absent. */
export interface InjectRequest {
  readonly type: ContractType
  readonly to?: string
  readonly owner?: string
  readonly amount?: string
}

/** Any transaction of an unlocked account. `value` in sun as decimal text, `data` hex; without `to` it creates a contract. */
export interface SendRequest {
  readonly from?: string
  readonly to?: string
  readonly value?: string
  readonly data?: string
}

/** A transaction that was sent: 64 hex digits. It is in no block yet. */
export interface Sent {
  readonly txid: string
}

/** What a person or a test does to the chain. What it can't do throws `Refusal`. */
export interface Control {
  /** 20 bytes as 40 hex digits: the test token's address, the same on every chain. */
  readonly tokenAddress: Address
  pay(request: PayRequest): Promise<Sent>
  inject(request: InjectRequest): Promise<Sent>
  send(request: SendRequest): Promise<Sent>
  /** Makes blocks; the first holds what was sent. A block is final with two on top. */
  mine(blocks?: number): Promise<{ readonly latest: number; readonly finalized: number }>
  /** Deploys the test token where it is not there yet. */
  deployToken(): Promise<void>
}

/** Why the chain won't do something, in one sentence. */
export class Refusal extends Error {}

/**
 * Where anvil's first account puts its first contract: an address is made of the creator and its count of transactions.
 * `test/devnet/dev.vars` names it, in Base58Check.
 */
export const tokenAddress = '5fbdb2315678afecb367f032d93f642f64180aa3' as Address // 40 hex digits

const deployer = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const payer = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const carrierSender = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720'
const gas = quantity(10_000_000) // free, and given so that a transaction that must fail is not refused by the estimate
const amountMax = 2n ** 63n - 1n // the bytes hold an int64
const blocksMax = 1_000
const sentForReal = new Set<ContractType>(['TransferContract', 'CreateSmartContract', 'TriggerSmartContract'])

/** The controls of a chain. */
export function createControl(node: TronNode): Control {
  const { evm } = node
  let last: Promise<unknown> = Promise.resolve()
  // One after the other: anvil gives two transactions of one account the same number when they come at once.
  const submit = (transaction: Record<string, string>): Promise<Sent> => {
    const sent = last.then(async () => {
      const hash = await evm.call<string>('eth_sendTransaction', { gas, gasPrice: '0x0', ...transaction })
      return { txid: await node.announce(hash) }
    })
    last = sent.catch(() => undefined) // its sender is told; the next one goes on
    return sent
  }
  const inject = (request: InjectRequest) => {
    const data = writeCarried(readInjection(request))
    return submit({ from: carrierSender, to: carrierAddress, data })
  }

  return {
    tokenAddress,
    inject,
    async pay({ to, amount, currency }) {
      const target = readAddress(to)
      const units = readAmount(amount)
      switch (currency) {
        case 'TRX':
          return submit({ from: payer, to: `0x${target}`, value: quantity(units) })
        case 'USDT':
          return submit({
            from: deployer,
            to: `0x${tokenAddress}`,
            data: tokenCall('transfer(address,uint256)', target, units),
          })
        case 'TRC10':
          return inject({ type: 'TransferAssetContract', to, amount: `${units}` })
        default:
          throw new Refusal('The currency must be TRX, USDT or TRC10.')
      }
    },
    send({ from, to, value = '0', data = '' }) {
      return submit({
        from: from === undefined ? payer : `0x${readAddress(from)}`,
        value: quantity(readUnits(value)),
        data: `0x${data.replace(/^0x/, '')}`,
        ...(to === undefined ? {} : { to: `0x${readAddress(to)}` }),
      })
    },
    async mine(blocks = 1) {
      if (!Number.isInteger(blocks) || blocks < 1 || blocks > blocksMax) {
        throw new Refusal(`The number of blocks must be from 1 to ${blocksMax}.`)
      }
      await evm.call('anvil_mine', quantity(blocks))
      return node.tips()
    },
    async deployToken() {
      if (await hasToken(evm)) return
      if ((await evm.call<string>('eth_getTransactionCount', deployer, 'latest')) !== '0x0') {
        throw new Error('the chain has no test token where it must be')
      }
      const { bytecode } = readTokenArtifact()
      await evm.call('eth_sendTransaction', { from: deployer, data: bytecode, gas, gasPrice: '0x0' })
      await evm.call('anvil_mine', '0x1')
      if (!(await hasToken(evm))) throw new Error('the test token could not be deployed')
    },
  }
}

/** Call data of one of the token's functions that take an address and a number. */
export function tokenCall(signature: string, address: string, value: bigint): string {
  return `0x${tokenSelector(signature)}${address.padStart(64, '0')}${value.toString(16).padStart(64, '0')}`
}

/** The token's address as people write it. */
export const tokenBase58 = formatBase58(tokenAddress)

async function hasToken(evm: Evm): Promise<boolean> {
  return (await evm.call<string>('eth_getCode', `0x${tokenAddress}`, 'latest')) !== '0x'
}

function readInjection({ type, to, owner = payer, amount = '1000000' }: InjectRequest) {
  if (typeof type !== 'string' || !isContractType(type)) throw new Refusal(`There is no contract type ${String(type)}.`)
  if (sentForReal.has(type)) throw new Refusal(`A ${type} is sent for real: use pay or send.`)
  const spec: ContractSpec = contractSpecs[type]
  if (spec.showsTarget && to === undefined) throw new Refusal(`A ${type} needs "to".`)
  const target = to === undefined ? null : readAddress(to)
  return { type, owner: readAddress(owner), target, amount: readUnits(amount) }
}

/** Base58Check, or 20 bytes of hex, as 40 hex digits. */
function readAddress(given: unknown): Address {
  if (typeof given !== 'string') throw new Refusal('An address must be text.')
  const fromHex = addressFromHex(given)
  if (fromHex !== null) return fromHex
  const parsed = parseAddress(given)
  if (parsed.ok) return parsed.value
  throw new Refusal(`${given} is no Tron address.`)
}

function readAmount(given: unknown): bigint {
  const parsed = typeof given === 'string' ? parseUnits(given, 6) : null
  if (!parsed?.ok || parsed.value === 0n || parsed.value > amountMax) {
    throw new Refusal('The amount must be a decimal above zero with at most 6 decimals, as text.')
  }
  return parsed.value
}

function readUnits(given: unknown): bigint {
  const parsed = typeof given === 'string' ? parseUnits(given, 0) : null
  if (!parsed?.ok || parsed.value > amountMax)
    throw new Refusal('A value must be an integer of smallest units, as text.')
  return parsed.value
}
