import { writeFileSync } from 'node:fs'
import { HDKey } from '@scure/bip32'
import { payoutPath } from '../../../src/commands/signing/account-key.ts'
import { parseMnemonic, seedOf } from '../../../src/commands/signing/mnemonic.ts'
import { formatBase58, parseAddress } from '../../../src/worker/chain/address.ts'
import type { BlockHash, BlockHeight } from '../../../src/worker/chain/block.ts'
import { referenceOf } from '../../../src/worker/chain/transaction.ts'

// What every library signs: transfers of 1.5 TRX and of 2.5 units of a token. The sender is the
// payout address of a public test mnemonic; it owns nothing.

const blockMs = 3_000
const newest = Math.floor(Date.now() / blockMs)
const finalityBlocks = 19
const hashOf = (height: number) => height.toString(16).padStart(16, '0').repeat(4)
const blockAt = (height: number) => ({ height, hash: hashOf(height), timestamp: height * blockMs })
const mnemonic = `${'test '.repeat(11)}junk`

function privateKeyOf(words: string): string {
  const parsed = parseMnemonic(words)
  if (!parsed.ok) throw new Error('a public test mnemonic')
  const { privateKey } = HDKey.fromMasterSeed(seedOf(parsed.value)).derive(payoutPath)
  return Buffer.from(privateKey ?? []).toString('hex')
}

const head = blockAt(newest - finalityBlocks)
const reference = referenceOf({ height: head.height as BlockHeight, hash: head.hash as BlockHash })
const contract = parseAddress('TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH')
const to = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'
const recipient = parseAddress(to)
const signingCase = {
  mnemonic,
  privateKey: privateKeyOf(mnemonic),
  from: 'TKUwMQUhHTADfAtfG4gAHwXFGa3PYDieMJ',
  to,
  contract: contract.ok ? formatBase58(contract.value) : '',
  /** The recipient's address as 40 hex digits, without the leading byte 41. */
  toHex: recipient.ok ? recipient.value : '',
  sun: 1_500_000,
  units: 2_500_000,
  /** The newest final block, as `/ledger/payouts/unsigned` shows it. */
  head,
  reference,
  /** The newest block, as a node shows it. */
  newest: blockAt(newest),
  timestamp: Date.now(),
  expiration: head.timestamp + 15 * 60_000,
  feeLimit: 50_000_000,
}
/** The case as one JSON object, which programs of every language read. */
export type SigningCase = typeof signingCase

const [, , path] = process.argv
if (path !== undefined) writeFileSync(path, JSON.stringify(signingCase))
