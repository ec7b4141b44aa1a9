import { hexToBytes } from '@noble/hashes/utils.js'
import { quantity } from '../support/hex.ts'
import { type EmbeddedTransaction, encodeEmbedded, outOfEnergyCall } from './embedded.ts'
import type { DevnetNode } from './node.ts'
import { parseRaw } from './parse-transaction.ts'

/** A sent transaction, which is in no block yet. `txid` is 64 hex digits. */
export interface SentTransaction {
  readonly txid: string
}

/** Gives a Tron transaction to the EVM chain, after those before it. */
export type Submit = (transaction: EmbeddedTransaction, fails?: 'OUT_OF_ENERGY') => Promise<SentTransaction>

/** The recipient of the EVM transaction for one that neither moves TRX nor runs a contract. It has no key. */
const carrier = '0x0000000000000000000000000062726f61646373'
const gas = quantity(10_000_000) // free; without it, the gas estimate refuses a transaction that must fail
/**
 * Sends one transaction at a time: anvil gives the same nonce to two simultaneous transactions of one account. The EVM has no
 * signature of it: anvil lets this server act for any account.
 */
export function createSubmit({ evm, trackUnmined }: DevnetNode): Submit {
  let last: Promise<unknown> = Promise.resolve()
  return (transaction, fails) => {
    const sent = last.then(async () => {
      const hash = await evm.call<string>('eth_sendTransaction', { ...toEvm(transaction, fails), gas, gasPrice: '0x0' })
      return { txid: await trackUnmined(hash) }
    })
    last = sent.catch(() => undefined) // its caller gets the error; the next transaction is sent all the same
    return sent
  }
}

/** The EVM transaction that does what the Tron transaction does, and carries it. */
function toEvm(transaction: EmbeddedTransaction, fails?: 'OUT_OF_ENERGY'): Record<string, string> {
  const { contract } = parseRaw(hexToBytes(transaction.rawHex))
  if (contract === null) throw new Error('a transaction without a contract was accepted')
  const { owner, target, amount, code } = contract.parameters
  const embedded = encodeEmbedded(transaction)
  const from = `0x${owner}`
  switch (contract.type) {
    case 'TransferContract':
      return { from, to: `0x${target}`, value: quantity(amount), data: `0x${embedded}` }
    case 'CreateSmartContract':
      return { from, value: quantity(amount), data: `0x${code}${embedded}` }
    case 'TriggerSmartContract': {
      const called = fails === 'OUT_OF_ENERGY' ? outOfEnergyCall : `0x${code}`
      return { from, to: `0x${target}`, value: quantity(amount), data: `${called}${embedded}` }
    }
    default:
      return { from, to: carrier, data: `0x${embedded}` }
  }
}
