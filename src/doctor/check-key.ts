import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { formatBase58 } from '../addresses/address.ts'
import { deriveAddress, parseExtendedPublicKey } from '../addresses/derive.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'
import { isMainnet, networkOf } from './networks.ts'

const firstAddresses = 3
const depthAt = 4 // BIP-32: four bytes of version come before it
const accountDepth = 3
const base58check = createBase58check(sha256)

/** Index 0 of mnemonics that stand in everybody's documentation: "abandon … about" and "test … junk". */
const publicAddresses: ReadonlySet<string> = new Set([
  'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
  'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6',
])

/**
 * Which key it is, with its first addresses to be compared with the wallet that holds the private one. An extended
 * public key that can't be parsed is a fault of the configuration, said there. `chainId` is null where it is not known.
 */
export function checkKey(xpub: unknown, chainId: string | null): readonly CheckResult[] {
  const key = typeof xpub === 'string' ? parseExtendedPublicKey(xpub) : null
  if (typeof xpub !== 'string' || !key?.ok) return []
  const isAccount = base58check.decode(xpub)[depthAt] === accountDepth
  const kind = isAccount ? "the account m/44'/195'/0'" : "the external chain m/44'/195'/0'/0"
  const addresses = Array.from({ length: firstAddresses }, (_, index) => formatBase58(deriveAddress(key.value, index)))
  const findings = [
    passed(`key: ${kind}; its first addresses are ${addresses.join(', ')}: compare them with your wallet`),
  ]
  if (!publicAddresses.has(addresses[0] ?? '')) return findings
  const warning = 'key: everybody knows the mnemonic of this key, and can take what is sent to its addresses'
  if (chainId === null) return [...findings, warned(warning)]
  if (isMainnet(chainId)) return [...findings, failed(warning)]
  return networkOf(chainId) === null ? findings : [...findings, warned(warning)]
}
