// biome-ignore-all lint/correctness/noUndeclaredDependencies: run.sh installs them
// Tether's WDK signs what tronweb has made: by default the bytes that a node makes.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Wallet from '@tetherto/wdk-wallet-tron'
import { messageOf, show } from './message.mjs'

const [, , casePath, node] = process.argv
const given = JSON.parse(readFileSync(casePath, 'utf8'))
// the version that WDK depends on
const { TronWeb } = createRequire(import.meta.resolve('@tetherto/wdk-wallet-tron'))('tronweb')
const { transactionBuilder } = new TronWeb({ fullHost: node })
const account = await new Wallet(given.mnemonic, { provider: node }).getAccountByPath("2'/0/0")

const sign = async (transaction) => {
  const { raw_data_hex: raw, signature } = await account.signTransaction(transaction)
  return messageOf(raw, signature[0])
}
show('TRX by default', await sign({ to: given.to, value: given.sun }))

const { reference, expiration, timestamp, feeLimit } = given
const blockHeader = { ref_block_bytes: reference.bytes, ref_block_hash: reference.hash, expiration, timestamp }
show('TRX as below', await sign(await transactionBuilder.sendTrx(given.to, given.sun, given.from, { blockHeader })))
const parameters = [
  { type: 'address', value: given.to },
  { type: 'uint256', value: given.units },
]
const options = { blockHeader, feeLimit, txLocal: true }
const call = 'transfer(address,uint256)'
const made = await transactionBuilder.triggerSmartContract(given.contract, call, options, parameters, given.from)
show('token as below', await sign(made.transaction))
