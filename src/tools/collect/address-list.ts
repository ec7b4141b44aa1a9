import { spawn } from 'node:child_process'
import * as z from 'zod/mini'
import { deriveAddress, indexMax } from '../../addresses/derive.ts'
import type { Address } from '../../chain/address.ts'
import { err, ok, type Result } from '../../common/result.ts'
import type { Config } from '../../config/config.ts'
import { readAgreedBalances } from './agreed-balances.ts'
import { scanGap } from './limits.ts'
import type { CollectNodes } from './node-access.ts'
import { readAccount } from './node-api.ts'

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

const rowsSchema = z.array(
  z.object({ results: z.array(z.object({ i: z.int().check(z.gte(0)), address: z.string() })) }),
)

/**
 * The addresses that a deployment issued, from its database; without `env` from the local one. Each must be the one that the
 * extended public key gives: otherwise the key is another one, and nothing could be signed.
 */
export async function readIssuedAddresses(
  config: Config,
  env: string | undefined,
  { from, to }: IndexRange,
): Promise<Result<readonly ListedAddress[], string>> {
  const query = `SELECT derivation_index AS i, address FROM address WHERE derivation_index BETWEEN ${from} AND ${to} ORDER BY i`
  const place = env === undefined ? ['--local'] : ['--remote', `--env=${env}`]
  const output = await runWrangler(['d1', 'execute', 'DB', ...place, '--json', '--command', query])
  if (output === null)
    return err('the database could not be read: run "npx wrangler d1 execute DB …" to see why, or use --scan')
  const rows = parseRows(output)
  if (rows === null) return err('wrangler answered with something other than rows of the table address')
  const listed: ListedAddress[] = []
  for (const { i: index, address } of rows) {
    const derived = deriveAddress(config.extendedPublicKey, index)
    if (derived !== address)
      return err(`address ${index} of the database is not one of TRON_XPUB: the key is another one`)
    listed.push({ index, address: derived })
  }
  return ok(listed)
}

/**
 * The addresses that hold anything, without a database: indices from the beginning of the range until `scanGap` in a row
 * were never used, as far as the chain shows it: they hold nothing, and none has an account. What was collected has one.
 */
export async function scanAddresses(
  nodes: CollectNodes,
  config: Config,
  { from, to }: IndexRange,
  onProgress: (done: number) => void,
): Promise<Result<readonly ListedAddress[], string>> {
  const used: ListedAddress[] = []
  for (let start = from; start <= to; start += scanGap) {
    const size = Math.min(scanGap, to - start + 1)
    const part = Array.from({ length: size }, (_, i) => {
      return { index: start + i, address: deriveAddress(config.extendedPublicKey, start + i) }
    })
    const holding = new Set<Address>()
    for (const { asset } of config.currencies.list) {
      const addresses = part.map(({ address }) => address)
      const balances = await readAgreedBalances(nodes, addresses, asset, () => {})
      if (!balances.ok) return balances
      for (const [i, units] of balances.value.entries()) if (units !== 0n && addresses[i]) holding.add(addresses[i])
    }
    used.push(...part.filter(({ address }) => holding.has(address)))
    onProgress(start + size - from)
    // With an end that the operator named, the whole range is read.
    if (holding.size > 0 || to !== wholeRange.to) continue
    const isUsed = await hasAccount(nodes, part)
    if (!isUsed.ok) return isUsed
    if (!isUsed.value) break
  }
  return ok(used)
}

/** Whether any of these addresses has an account: it was used, though it is empty now. */
async function hasAccount(nodes: CollectNodes, part: readonly ListedAddress[]): Promise<Result<boolean, string>> {
  for (const { address } of part) {
    const answer = await readAccount(nodes, address)
    if (!answer.ok) return answer
    if (answer.value.account !== null) return ok(true)
  }
  return ok(false)
}

/** The rows in wrangler's output, which can have other lines before them. */
function parseRows(output: string): readonly { readonly i: number; readonly address: string }[] | null {
  try {
    const parsed = rowsSchema.safeParse(JSON.parse(output.slice(output.indexOf('['))))
    return parsed.success ? parsed.data.flatMap(({ results }) => results) : null
  } catch {
    return null
  }
}

async function runWrangler(args: readonly string[]): Promise<string | null> {
  const env = { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' }
  const child = spawn('wrangler', args, {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null)) // no such program
    child.once('close', resolve)
  })
  return code === 0 ? output : null
}
