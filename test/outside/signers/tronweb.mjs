// biome-ignore-all lint/correctness/noUndeclaredDependencies: run.sh installs them
// tronweb: by default with a node's newest block, and with the settings of docs/guides/signers.md
// ("as below"). See judge.ts.
import { readFileSync } from 'node:fs'
import { TronWeb } from 'tronweb'
import { messageOf, show } from './message.mjs'

const [, , casePath, node] = process.argv
const given = JSON.parse(readFileSync(casePath, 'utf8'))
const tronWeb = new TronWeb({ fullHost: node, privateKey: given.privateKey })
const { transactionBuilder } = tronWeb

const sign = async (transaction) => {
  const { raw_data_hex: raw, signature } = await tronWeb.trx.sign(transaction)
  return messageOf(raw, signature[0])
}
const trx = (options) => transactionBuilder.sendTrx(given.to, given.sun, given.from, options)
const token = async (options) => {
  const parameters = [
    { type: 'address', value: given.to },
    { type: 'uint256', value: given.units },
  ]
  const local = { ...options, txLocal: true } // without `txLocal` the node makes the bytes
  const call = 'transfer(address,uint256)'
  const made = await transactionBuilder.triggerSmartContract(given.contract, call, local, parameters, given.from)
  return made.transaction
}

show('TRX by default', await sign(await trx({})))
show('token by default', await sign(await token({})))

const { reference, expiration, timestamp, feeLimit } = given
const blockHeader = { ref_block_bytes: reference.bytes, ref_block_hash: reference.hash, expiration, timestamp }
show('TRX as below', await sign(await trx({ blockHeader })))
show('token as below', await sign(await token({ blockHeader, feeLimit })))
