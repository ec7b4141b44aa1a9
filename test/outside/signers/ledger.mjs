// biome-ignore-all lint/correctness/noUndeclaredDependencies: run.sh installs them
// Ledger's hw-app-trx with a device in software, which signs what it gets. The library makes no
// bytes, so they come from tronweb.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { secp256k1 } from '@noble/curves/secp256k1'
import { TronWeb } from 'tronweb'
import { messageOf, show } from './message.mjs'

const { default: Trx } = createRequire(import.meta.url)('@ledgerhq/hw-app-trx') // its ES modules do not load in Node
const given = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const pathBytes = 1 + 5 * 4
const finished = Buffer.from('9000', 'hex')
let raw = Buffer.alloc(0)

/**
 * Replies as the app on the device does: r, s, and the parity as 0 or 1 (app-tron's src/helpers.c,
 * read 2026-11-27).
 */
const device = {
  decorateAppAPIMethods() {},
  async send(_cla, _instruction, p1, _p2, data) {
    const isFirst = p1 === 0x00 || p1 === 0x10
    raw = isFirst ? data.subarray(pathBytes) : Buffer.concat([raw, data])
    if (p1 !== 0x10 && p1 !== 0x90) return finished
    const signature = secp256k1.sign(createHash('sha256').update(raw).digest(), given.privateKey)
    return Buffer.concat([signature.toCompactRawBytes(), Buffer.from([signature.recovery]), finished])
  },
}
const app = new Trx(device)
const { transactionBuilder } = new TronWeb({ fullHost: 'http://127.0.0.1:9' })
const sign = async ({ raw_data_hex: rawHex }) =>
  messageOf(rawHex, await app.signTransaction("44'/195'/2'/0/0", rawHex, []))

const { reference, expiration, timestamp, feeLimit } = given
const blockHeader = { ref_block_bytes: reference.bytes, ref_block_hash: reference.hash, expiration, timestamp }
const parameters = [
  { type: 'address', value: given.to },
  { type: 'uint256', value: given.units },
]
const options = { blockHeader, feeLimit, txLocal: true }
const call = 'transfer(address,uint256)'
const made = await transactionBuilder.triggerSmartContract(given.contract, call, options, parameters, given.from)
show('TRX as below', await sign(await transactionBuilder.sendTrx(given.to, given.sun, given.from, { blockHeader })))
show('token as below', await sign(made.transaction))
