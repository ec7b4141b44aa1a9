import { HDKey } from '@scure/bip32'
import { accountDepth, deriveAddress, hardened, parseExtendedPublicKey } from '../../addresses/derive.ts'
import { formatBase58 } from '../../chain/address.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'

/** The names of the public networks by chain id (PROTOCOL.md, Chain identity). */
export const publicNetworks: ReadonlyMap<string, string> = new Map([
  ['0x2b6653dc', 'mainnet'],
  ['0xcd8690dc', 'Nile'],
  ['0x94a9059e', 'Shasta'],
])

/** The addresses at index 0 of two public test mnemonics: "abandon … about" and "test … junk". */
const publicAddresses = ['TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH', 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6']

/**
 * Checks the extended public key and shows its first addresses, to be compared with the wallet that has the private key.
 * No results where it cannot be parsed: that is a fault of the configuration. `chainId` is null where it is not known.
 */
export function* checkKey(xpub: unknown, chainId: string | null): Generator<CheckResult, void> {
  const key = typeof xpub === 'string' ? parseExtendedPublicKey(xpub) : null
  if (typeof xpub !== 'string' || !key?.ok) return
  const { depth, index } = HDKey.fromExtendedKey(xpub)
  const kind = depth === accountDepth ? `account m/44'/195'/${index - hardened}'` : "external chain m/44'/195'/n'/0"
  const addresses = [0, 1, 2].map((index) => formatBase58(deriveAddress(key.value, index)))
  yield passed(`key: ${kind}, first addresses ${addresses.join(', ')}: compare them with the wallet`)
  const network = chainId === null ? 'unknown' : publicNetworks.get(chainId)
  if (network === undefined || !publicAddresses.includes(addresses[0] ?? '')) return
  const level = network === 'mainnet' ? failed : warned
  yield level('key: this is a public test mnemonic: anyone can spend from it')
}
