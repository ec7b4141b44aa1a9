import { hexToBytes } from '@noble/hashes/utils.js'
import { type Address, formatBase58 } from '../addresses/address.ts'
import type { Currency } from '../ledger/currencies.ts'
import { parseResult, requireResult } from '../tron/calls.ts'
import { parseUint256 } from '../tron/parse/block.ts'
import { parseBytes } from '../tron/parse/fields.ts'
import { queryNode } from '../tron/transport/batch.ts'
import { type CheckResult, failed, passed, warned } from './check-result.ts'
import * as limits from './limits.ts'
import { type DoctorPlatform, describeNodeError, type NodeUnderTest, openPool } from './node-under-test.ts'

const decimalsSelector = '0x313ce567'
const symbolSelector = '0x95d89b41'
const wordBytes = 32
/** What the configuration takes as a symbol; a contract's own can have other characters, and then can't be compared. */
const configurable = /^[\w.-]{1,20}$/

/** What each usable node says of one token, equal answers in one line. */
export async function checkToken(
  machine: DoctorPlatform,
  patients: readonly NodeUnderTest[],
  chainId: string,
  currency: Currency,
  contract: Address,
): Promise<readonly CheckResult[]> {
  const name = `token ${currency.symbol} (${formatBase58(contract)})`
  const byText = new Map<string, { finding: CheckResult; by: number[] }>()
  for (const patient of patients) {
    for (const finding of await askOne(machine, patient, chainId, currency, contract)) {
      const same = byText.get(finding.text)
      if (same === undefined) byText.set(finding.text, { finding, by: [patient.number] })
      else same.by.push(patient.number)
    }
  }
  return [...byText.values()].map(({ finding, by }) => ({
    ...finding,
    text: `${name}: ${finding.text} (says node ${by.join(', ')})`,
  }))
}

async function askOne(
  machine: DoctorPlatform,
  patient: NodeUnderTest,
  chainId: string,
  currency: Currency,
  contract: Address,
): Promise<readonly CheckResult[]> {
  const [pool, node] = openPool(machine, patient, chainId, limits.tokenMs)
  const call = (data: string) => ({ method: 'eth_call', params: [{ to: `0x${contract}`, data }, 'latest'] })
  const heard = await queryNode(pool, node, 'chain', [call(decimalsSelector), call(symbolSelector)])
  if (!heard.ok) return [failed(describeNodeError(heard.error))]
  const [decimalsReply, symbolReply] = heard.value.replies
  if (decimalsReply?.kind === 'error' && decimalsReply.code === -32600) {
    return [failed('no contract there on this chain, or a node that runs no calls (error -32600)')]
  }
  const decimals = parseResult(decimalsReply, 'decimals', parseUint256)
  const symbol = requireResult(symbolReply, 'symbol')
  return [
    decimals.ok ? compareDecimals(decimals.value, currency.decimals) : failed(describeNodeError(decimals.error)),
    symbol.ok ? compareSymbols(readSymbol(symbol.value), currency.symbol) : warned(describeNodeError(symbol.error)),
  ]
}

function compareDecimals(told: bigint, configured: number): CheckResult {
  if (told === BigInt(configured)) return passed(`decimals ${configured}`)
  return failed(`its decimals are ${told}, not ${configured}: nothing of it would be credited`)
}

function compareSymbols(told: string | null, configured: string): CheckResult {
  if (told === null) return warned('its symbol can’t be read')
  if (told === configured) return passed(`symbol ${configured}`)
  const said = `its own symbol is "${told.replace(/[^\x20-\x7e]/g, '?').slice(0, limits.symbolCharsMax)}"`
  return configurable.test(told) ? failed(`${said}: is this the right contract?`) : warned(said)
}

/** An ABI string (its place, its length, its bytes), or the 32 bytes that some old tokens answer. */
function readSymbol(value: unknown): string | null {
  const digits = parseBytes(value)
  if (digits === null) return null
  const bytes = hexToBytes(digits.slice(2))
  if (bytes.length === wordBytes) return textOf(bytes)
  const start = numberAt(bytes, 0)
  const length = start === null ? null : numberAt(bytes, start)
  if (start === null || length === null || start + wordBytes + length > bytes.length) return null
  return textOf(bytes.subarray(start + wordBytes, start + wordBytes + length))
}

/** A word that counts bytes: all but its last four are zero in any answer that fits a reply. */
function numberAt(bytes: Uint8Array, at: number): number | null {
  if (at + wordBytes > bytes.length) return null
  const word = bytes.subarray(at, at + wordBytes)
  if (word.subarray(0, wordBytes - 4).some((byte) => byte !== 0)) return null
  return new DataView(word.buffer, word.byteOffset).getUint32(wordBytes - 4)
}

function textOf(bytes: Uint8Array): string | null {
  const text = new TextDecoder().decode(bytes).replace(/\0+$/, '')
  return text === '' ? null : text
}
