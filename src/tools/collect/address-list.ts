import { deriveAddress, indexMax } from '../../addresses/derive.ts'
import { checkKeyUse } from '../../addresses/key-use.ts'
import type { Address } from '../../chain/address.ts'
import { balancesMax } from '../../chain/limits.ts'
import type { Config } from '../../config/config.ts'
import { queryDatabase } from '../deploy/database.ts'
import { ToolError } from '../keys/terminal.ts'
import { readUse } from '../node-pool.ts'
import type { CollectNodes } from './nodes.ts'

/** A deposit address with its place in the derivation path. */
export interface ListedAddress {
  readonly index: number
  readonly address: Address
}

/** The part of the addresses that a plan is about: both ends included. */
export interface IndexRange {
  readonly from: number
  readonly to: number
}

/** Every index. */
export const wholeRange: IndexRange = { from: 0, to: indexMax }

/**
 * The addresses that a deployment issued, from its database; without `env` from the local one. Each must be the one that the
 * extended public key gives: otherwise the key is another one, and nothing could be signed. A failure is a `ToolError`.
 */
export async function readIssuedAddresses(
  { extendedPublicKey }: Pick<Config, 'extendedPublicKey'>,
  env: string | undefined,
  { from, to }: IndexRange,
): Promise<readonly ListedAddress[]> {
  const query = `SELECT derivation_index AS i, address FROM address WHERE derivation_index BETWEEN ${from} AND ${to} ORDER BY i`
  const reply = await queryDatabase(env, query)
  if (!reply.ok) throw new ToolError(`${reply.error}; or use --scan`)
  return (reply.value[0] ?? []).map(({ i, address }) => {
    const index = Number(i)
    const derived = deriveAddress(extendedPublicKey, index)
    if (derived === address) return { index, address: derived }
    throw new ToolError(`address ${index} of the database is not one of TRON_XPUB: the key is another one`)
  })
}

/**
 * The addresses without a database: a range whose end is named, or otherwise all until the gap limit (BIP-44), where none of as many
 * in a row was ever used, as far as the chain shows it: they hold nothing, and none has an account. What was collected has one.
 */
export async function scanAddresses(
  nodes: CollectNodes,
  { extendedPublicKey, currencies }: Pick<Config, 'extendedPublicKey' | 'currencies'>,
  { from, to }: IndexRange,
  onProgress: (done: number) => void,
): Promise<readonly ListedAddress[]> {
  const listed: ListedAddress[] = []
  const addressAt = (index: number) => deriveAddress(extendedPublicKey, Math.min(index, indexMax))
  const alarms = { raise: async () => {} }
  for (let start = from; start <= to; start += balancesMax) {
    const use = { currencies, addressAt: (i: number) => addressAt(start + i), alarms }
    const keyUse = { wasUsed: to !== wholeRange.to, withoutAccount: 0 } // of a named range everything is taken
    const found = await nodes.read((session) => checkKeyUse({ chain: readUse(session), ...use, keyUse }))
    if (found === 'unused') break
    const size = Math.min(balancesMax, to - start + 1)
    listed.push(...Array.from({ length: size }, (_, i) => ({ index: start + i, address: addressAt(start + i) })))
    onProgress(listed.length)
  }
  return listed
}
