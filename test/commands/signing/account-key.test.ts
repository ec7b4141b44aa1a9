import { TronWeb, utils } from 'tronweb'
import { describe, expect, it } from 'vitest'
import { depositPath } from '../../../src/commands/signing/account-key.ts'
import { deriveAddress, parseExtendedPublicKey } from '../../../src/worker/addresses/derive.ts'
import { formatBase58, formatHex } from '../../../src/worker/chain/address.ts'
import { signerOf } from '../../../src/worker/chain/transaction.ts'
import { testXpub } from '../../support/variables.ts'
import { gasAddress, keysOf, testMnemonic, unwrap } from '../collect/harness.ts'

const keys = keysOf(testMnemonic)

describe('the keys of a mnemonic', () => {
  it('have the extended public key and the addresses of the service', () => {
    expect(keys.extendedPublicKey(0)).toBe(testXpub)
    for (const account of [0, 1, 7]) {
      const key = unwrap(parseExtendedPublicKey(keys.extendedPublicKey(account)))
      for (const index of [0, 1, 200]) {
        expect(keys.depositKey(account, index).address).toBe(deriveAddress(key, index))
      }
    }
  })

  it('have the addresses of tronweb', () => {
    for (const [account, index] of [
      [0, 3],
      [1, 0],
    ] as const) {
      const { address } = TronWeb.fromMnemonic(testMnemonic, depositPath(account, index))
      expect(formatBase58(keys.depositKey(account, index).address)).toBe(address)
    }
    expect(formatBase58(keys.depositKey(1, 0).address)).toBe(gasAddress)
  })

  it('show no private part when they are printed', () => {
    const key = keys.depositKey(0, 0)
    const { privateKey } = TronWeb.fromMnemonic(testMnemonic, depositPath(0, 0))
    const secrets = [privateKey.slice(2), 'xprv', 'test test']
    for (const printed of [JSON.stringify([keys, key]), String(key), String(keys.depositKey)]) {
      for (const secret of secrets) expect(printed).not.toContain(secret)
    }
  })
})

describe('a signature', () => {
  const rawData = Uint8Array.from(Buffer.from('0a02001122085f257a046427915a', 'hex'))

  it('is that of its address, for tronweb too', () => {
    for (const index of [0, 1, 2, 3]) {
      const { address, sign } = keys.depositKey(0, index)
      const signature = sign(rawData)
      expect(signerOf(rawData, signature)).toBe(address)
      const txid = Buffer.from(utils.ethersUtils.sha256(rawData).slice(2), 'hex').toString('hex')
      const byTronweb = utils.crypto.ecRecover(txid, Buffer.from(signature).toString('hex'))
      expect(byTronweb.toLowerCase()).toBe(formatHex(address))
    }
  })

  it('has no known owner where a byte of it or of the data differs', () => {
    const { address, sign } = keys.depositKey(0, 0)
    const signature = sign(rawData)
    expect(signerOf(rawData.with(3, 1), signature)).not.toBe(address)
    expect(signerOf(rawData, signature.with(5, (signature[5] ?? 0) ^ 1))).not.toBe(address)
    expect(signerOf(rawData, signature.with(64, 99))).toBeNull()
    expect(signerOf(rawData, signature.subarray(0, 64))).toBeNull()
    expect(signerOf(rawData, new Uint8Array(65))).toBeNull()
  })
})
