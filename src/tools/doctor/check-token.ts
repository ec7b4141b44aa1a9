import { type Address, formatBase58 } from '../../chain/address.ts'
import { err, ok } from '../../common/result.ts'
import type { Currency } from '../../ledger/currencies.ts'
import { symbolPattern } from '../../ledger/currencies.ts'
import { askRpc } from '../../tron/ask.ts'
import { contractCall, decimalsCall, parseResult } from '../../tron/json-rpc.ts'
import type { Pool, TronNode } from '../../tron/node.ts'
import { type Parsed, parseBytes, parseUint256 } from '../../tron/parse/fields.ts'
import { atNode, sessionOf } from '../node-pool.ts'
import { describeNodeError } from './check-node.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'

/** Milliseconds for all checks of one token at one node. */
const tokenMs = 15_000
/** Characters of a token's own symbol that are printed. */
const symbolCharsMax = 20
const symbolSelector = '0x95d89b41'
const wordDigits = 64

/** Checks one token at each node of a pool. Equal results are one line. */
export async function* checkToken(
  pool: Pool,
  currency: Currency,
  contract: Address,
): AsyncGenerator<CheckResult, void> {
  const lines = new Map<string, Pick<CheckResult, 'level'> & { readonly numbers: number[] }>()
  for (const node of pool.nodes) {
    for (const { level, text } of await checkAtNode(pool, node, currency, contract)) {
      const line = lines.get(text) ?? { level, numbers: [] }
      line.numbers.push(node.number)
      lines.set(text, line)
    }
  }
  const name = `token ${currency.symbol} (${formatBase58(contract)})`
  for (const [text, { level, numbers }] of lines) {
    yield { level, text: `${name}: ${text} (node ${numbers.join(', ')})` }
  }
}

async function checkAtNode(
  pool: Pool,
  node: TronNode,
  currency: Currency,
  contract: Address,
): Promise<readonly CheckResult[]> {
  const calls = [decimalsCall(contract), contractCall(contract, symbolSelector)]
  const result = await askRpc(atNode(sessionOf(pool, tokenMs), node), node, calls, (reply) => ok(reply))
  if (!result.ok) return [failed(describeNodeError(result.error))]
  const [decimalsReply, symbolReply] = result.value
  if (decimalsReply?.kind === 'error' && decimalsReply.code === -32600) {
    return [failed('no contract at this address, or the node does not support eth_call (error -32600)')]
  }
  const decimals = parseResult(decimalsReply, 'decimals', parseUint256)
  const symbol = parseResult(symbolReply, 'symbol', parseSymbol)
  return [
    decimals.ok ? compareDecimals(decimals.value, currency.decimals) : failed(describeNodeError(decimals.error)),
    symbol.ok ? compareSymbols(symbol.value, currency.symbol) : warned(describeNodeError(symbol.error)),
  ]
}

function compareDecimals(actual: bigint, configured: number): CheckResult {
  if (actual === BigInt(configured)) return passed(`decimals ${configured}`)
  return failed(`decimals ${actual}, not ${configured}: no deposit of this token would be credited`)
}

/** A symbol that no configuration can have cannot be compared. */
function compareSymbols(actual: string, configured: string): CheckResult {
  if (actual === configured) return passed(`symbol ${configured}`)
  const text = `symbol "${actual.replace(/[^\x20-\x7e]/g, '?').slice(0, symbolCharsMax)}", not "${configured}"`
  return symbolPattern.test(actual) ? failed(`${text}: compare the contract with that of the token`) : warned(text)
}

/** An ABI string (offset, length, bytes), or the 32 bytes that some old tokens return. */
function parseSymbol(value: unknown): Parsed<string> {
  const hex = parseBytes(value)?.slice(2)
  if (hex === undefined) return err('not bytes')
  const numberAt = (at: number) => Number(`0x${hex.slice(at, at + wordDigits)}`) // NaN beyond the end
  const isWord = hex.length === wordDigits
  const start = isWord ? 0 : wordDigits + 2 * numberAt(0)
  const length = isWord ? wordDigits : 2 * numberAt(start - wordDigits)
  const bytes = hex.slice(start, start + length)
  if (bytes.length !== length) return err('not an ABI string')
  const text = Buffer.from(bytes, 'hex').toString().replace(/\0+$/, '')
  return text === '' ? err('empty') : ok(text)
}
