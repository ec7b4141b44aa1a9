import { describe, expect, it } from 'vitest'
import { checkPayouts } from '../../../src/commands/doctor/check-payouts.ts'
import { lineOf } from '../../../src/commands/doctor/check-settings.ts'
import { openForReading, type QueryRows } from '../../../src/commands/reading-database.ts'
import { ToolError } from '../../../src/commands/tool-error.ts'
import { formatBase58, parseAddress } from '../../../src/worker/chain/address.ts'
import { currencies } from '../../support/currencies.ts'
import { payoutBase58 } from '../../support/payouts.ts'
import { rowsOfNewDatabase } from './harness.ts'

const parsed = parseAddress(payoutBase58)
if (!parsed.ok) throw new Error(parsed.error)
const address = parsed.value
const rules = { address, limits: new Map(), feeLimit: 100_000_000n }
const tether = [...currencies.byContract].map(([contract]) => contract)[0] ?? ''

async function linesOf(read: QueryRows): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const result of checkPayouts(rules, currencies, openForReading(read))) lines.push(lineOf(result))
  return lines
}

const name = `payouts from ${formatBase58(address)}`
const agreed = `INSERT INTO agreed_decimals (contract, decimals, stored_at) VALUES ('${tether}', 6, 1)`
const scan = (columns: string, values: string) =>
  `INSERT INTO scan (id, height, hash, finalized, finalized_time, finalized_at, advanced_at, caught_up_at, tried_at,
    ${columns})
  VALUES (1, 100, '${'a'.repeat(64)}', 100, 1, 1, 1, 1, 1, ${values})`
const alarm = (kind: string, subject: string) =>
  `INSERT INTO alarm (kind, subject, raised_at, seen_at) VALUES ('${kind}', '${subject}', 1, 1)`

describe('the doctor on payouts', () => {
  it('says that they may leave where nothing stops them', async () => {
    expect(await linesOf(rowsOfNewDatabase(agreed))).toEqual([`ok    ${name}: they may leave`])
  })

  it('names a token whose decimals no node has shown', async () => {
    expect(await linesOf(rowsOfNewDatabase())).toEqual([
      `warn  ${name}: none of USDT (2) is offered to the signer: the decimals of the token's contract could not be read yet`,
    ])
  })

  it('names a restore, and nothing of single currencies beside it', async () => {
    const [line, ...others] = await linesOf(rowsOfNewDatabase(scan('restored_at', '5')))
    expect(line).toMatch(/^warn {2}.*: none is offered to the signer: an older copy of the database was restored/)
    expect(others).toEqual([])
  })

  it.each([
    [
      'payout-stuck',
      ['{"payout":1}', '{"payout":2}'],
      /: payout-stuck \(2 times\): The transaction of a payout is final/,
    ],
    ['payout-refused', ['{"payout":1}'], /: payout-refused: /],
    ['payout-wallet-low', ['{"cuy":2}'], /: payout-wallet-low: The payout address holds less/],
    ['payouts-unsigned', ['{}'], /: payouts-unsigned: /],
  ])('names the alarm %s with what to do', async (kind, subjects, expected) => {
    const lines = await linesOf(rowsOfNewDatabase(agreed, ...subjects.map((subject) => alarm(kind, subject))))
    expect(lines).toEqual([expect.stringMatching(expected)])
  })

  it('says why nothing is known of a database that cannot be read', async () => {
    const lines = await linesOf(async () => {
      throw new ToolError('wrangler may not use the account', 'log in')
    })
    expect(lines).toEqual([
      `warn  ${name}: whether they may leave is not known: wrangler may not use the account; log in`,
    ])
  })
})
