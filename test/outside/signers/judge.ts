import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { type Address, parseAddress } from '../../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight } from '../../../src/worker/chain/block.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { readSigned, referenceBlocks, referenceIn } from '../../../src/worker/payouts/signed-bytes.ts'
import { printLine, root } from '../../support/project.ts'
import type { SigningCase } from './case.ts'

/**
 * Reads from stdin the transactions that a library has made, one a line: its name, a tab, and its
 * bytes as hex digits. A name is `TRX` or `token`, then either `by default` or `as below`, which
 * means with the settings that docs/guides/signers.md recommends. The service's own code judges
 * each of them. The program prints the library's row of the guide's table, and fails if the guide
 * has a different row.
 */
const [, , casePath = '', library = ''] = process.argv
const given = JSON.parse(readFileSync(casePath, 'utf8')) as SigningCase // written by case.ts
const guide = readFileSync(`${root}docs/guides/signers.md`, 'utf8')

const accountOf = (base58: string): Address => {
  const parsed = parseAddress(base58)
  if (!parsed.ok) throw new Error(`${base58} is no address`)
  return parsed.value
}
const head = {
  height: given.head.height as BlockHeight,
  hash: given.head.hash as BlockHash,
  timestamp: given.head.timestamp as UnixMs,
}
// 100 TRX in sun: the default of PAYOUTS
const payout = { from: accountOf(given.from), to: accountOf(given.to), feeLimit: 100_000_000n }

/** How many blocks the chain can have above its newest final block. */
const newerBlocks = 40

/** What the service says of a message: `taken`, or the reason of the refusal. */
function verdictOf(transaction: string, isToken: boolean): string {
  const asset = isToken
    ? ({ contract: accountOf(given.contract), amount: BigInt(given.units) } as const)
    : ({ contract: '', amount: BigInt(given.sun) } as const)
  const reference = referenceIn(transaction, head)
  const read = readSigned(transaction, { ...payout, ...asset }, head, null)
  if (!read.ok) {
    process.stderr.write(`${library}: ${isToken ? 'token' : 'TRX'}: ${read.error.why}\n`)
    return `\`${read.error.reason}\``
  }
  if (reference !== null && reference + referenceBlocks <= head.height + newerBlocks) return '`no-final-block`'
  return 'taken'
}

const dayMs = 86_400_000
/**
 * How long a message can be mined from now on, in minutes, even if the service refuses it for
 * another reason. Empty if it cannot be read.
 */
const minutesOf = (transaction: string, isToken: boolean): string => {
  const asset = isToken ? given.contract : ''
  const contract = asset === '' ? ('' as const) : accountOf(asset)
  const amount = BigInt(isToken ? given.units : given.sun)
  // a later final block, so that no expiration is refused as too far ahead
  const later = { ...head, timestamp: (head.timestamp + dayMs / 2) as UnixMs }
  const read = readSigned(transaction, { ...payout, contract, amount, feeLimit: 2n ** 62n }, later, null)
  return read.ok ? `${Math.round((read.value.expiresAt - given.timestamp) / 60_000)} min` : ''
}

const lines = new Map(
  (await text(process.stdin)).split('\n').flatMap((line) => {
    const [what = '', hex = ''] = line.trim().split('\t')
    return hex === '' ? [] : [[what, hex] as const]
  }),
)
const cell = (what: string) => {
  const hex = lines.get(what)
  return hex === undefined ? '–' : verdictOf(hex, what.startsWith('token'))
}
const byDefault = lines.get('TRX by default') ?? lines.get('token by default')
const lasts = new Set([...lines.values()].map((hex) => (hex.slice(-2) < '04' ? '`00`, `01`' : '`1b`, `1c`')))
const cells = [
  library,
  [...lasts].join(' / '),
  cell('TRX by default'),
  cell('token by default'),
  byDefault === undefined ? '–' : minutesOf(byDefault, !lines.has('TRX by default')),
  cell('TRX as below'),
  cell('token as below'),
]
const row = `| ${cells.join(' | ')} |`
const columns = (line: string) => line.split('|').map((part) => part.trim())
const isShown = guide.split('\n').some((line) => columns(line).join('|') === columns(row).join('|'))
printLine(row)
if (!isShown) {
  process.stderr.write(`${library}: docs/guides/signers.md has not this row\n`)
  process.exitCode = 1
}
