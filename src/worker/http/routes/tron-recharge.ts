import * as z from 'zod/mini'
import { parseTxid, type Txid } from '../../chain/block.ts'
import { formatUnits } from '../../common/amount.ts'
import { explainHeld } from '../../deposits/explain.ts'
import { shownMax } from '../../deposits/store/of-caller.ts'
import type { Currencies } from '../../ledger/currencies.ts'
import { askTransaction, type CheckNowResult, checkNow, type TransactionResult } from '../../scan/check.ts'
import * as schemas from '../../schemas/parts.ts'
import { type RequestContext, type Route, writing } from '../context.ts'
import { refusal, successNote } from '../envelope.ts'
import { finalityLate } from '../errors.ts'
import * as docs from '../openapi/docs.ts'
import { badQuery, chainFailures } from '../openapi/failures.ts'
import { txidFailures } from '../openapi/txid-failures.ts'
import { textParam, withQuery } from '../query.ts'

/** What a `txid` must be, for the sentence that refuses another one. */
const txidExpected = '64 hex digits, optionally prefixed with 0x'

/** The parameter `txid`, which backends' lists of deposits and payouts also take. */
export const rechargeQuery = z.object({ txid: z.optional(txidParam()) })

/**
 * A parameter that is a txid: in upper or lower case, with or without `0x`. It is parsed into lower
 * case without `0x`.
 */
export function txidParam() {
  return textParam(txidExpected, /^(?:0[xX])?[0-9a-fA-F]{64}$/, readTxid)
}

/** "Check now": credits all final deposits of the user, or those of one transaction. */
export const tronRecharge = {
  path: '/tron/recharge',
  acts: true,
  rateClass: () => 'nodes',
  handle: withQuery(rechargeQuery, (c, { txid }) => (txid === undefined ? answerCheck(c) : answerTransaction(c, txid))),
} satisfies Route

/**
 * Answers "check now". The scanner, another object, reads the blocks and stores deposits. This
 * request then reads what became of the user's transfers.
 */
async function answerCheck(c: RequestContext): Promise<Response> {
  const { scanner, settings } = c.env.services
  const result = await writing(c, 'nothing', (context) => checkNow({ ...context, scanner }, c.get('uid')))
  return result.ok ? successNote(describeResult(result.value, settings.currencies)) : refusal(result.error)
}

async function answerTransaction(c: RequestContext, txid: Txid): Promise<Response> {
  const { scanner, settings } = c.env.services
  const result = await writing(c, 'nothing', (context) => askTransaction({ ...context, scanner }, c.get('uid'), txid))
  return result.ok ? successNote(describeTransaction(result.value, settings.currencies)) : refusal(result.error)
}

/** Reads a txid into lower case without `0x`; null for any other text. */
function readTxid(value: string): Txid | null {
  const txid = parseTxid(value)
  return txid.ok ? txid.value : null
}

/**
 * The result of "check now" in one line: credits, deposits on their way, held transfers, and why
 * the scan has not caught up.
 */
export function describeResult(result: CheckNowResult, currencies: Currencies): string {
  const { credited, unconfirmed, held, problem, behindBlocks } = result
  return [
    credited.length === 0 ? 'nothing new' : `credited ${formatSums(credited, currencies)}`,
    unconfirmed && describeUnconfirmed(unconfirmed),
    ...[...Map.groupBy(held, ({ reason }) => reason)].map(
      ([reason, group]) =>
        `${atLeast(held.length)}${count(group.length, 'transfer')} not credited yet: ${explainHeld(reason)}`,
    ),
    describeProblem(problem, behindBlocks),
    behindBlocks > 0 && `the scan is ${count(behindBlocks, 'block')} behind`,
  ]
    .filter(Boolean)
    .join('; ')
}

function describeUnconfirmed({ count: found, seconds }: NonNullable<CheckNowResult['unconfirmed']>): string {
  const when = seconds === null ? `not final yet: ${finalityLate}` : `final in about ${seconds} s`
  return `${atLeast(found)}${count(found, 'transfer')} found, ${when}`
}

/**
 * The words before a number of transfers, of which `read` were read. At most `shownMax` are read,
 * so more can exist.
 */
const atLeast = (read: number) => (read < shownMax ? '' : 'at least ')

function describeTransaction(result: TransactionResult, currencies: Currencies): string {
  const { credited, already } = result
  const sums = `${already ? 'already credited' : 'credited'} ${formatSums(credited, currencies)}`
  return [sums, ...describeUncredited(result)].join('; ')
}

/**
 * Sentences about the transfers of a transaction that are not credited: one for each reason, and
 * one more if TRX from contracts cannot be read now.
 */
export function describeUncredited({
  uncredited,
  isUnread,
}: Pick<TransactionResult, 'uncredited' | 'isUnread'>): readonly string[] {
  const groups = Map.groupBy(uncredited, (why) => why)
  const sentences = [...groups].map(([why, { length }]) => `${count(length, 'transfer')} not credited: ${why}`)
  return isUnread ? [...sentences, 'what contracts have sent in it cannot be read now: ask again'] : sentences
}

/** `25 USDT and 3 TRX`: the sum in each currency, in the order of the currencies. */
function formatSums(credited: CheckNowResult['credited'], currencies: Currencies): string {
  return currencies.list
    .flatMap(({ cuy, scale, symbol }) => {
      const own = credited.filter((one) => one.cuy === cuy)
      const sum = own.reduce((total, one) => total + one.amount, 0n)
      return own.length === 0 ? [] : [`${formatUnits(sum, scale)} ${symbol}`]
    })
    .join(' and ')
}

function describeProblem(problem: CheckNowResult['problem'], behindBlocks: number): string | null {
  switch (problem) {
    case 'no-answer':
      return 'no node gave a usable response'
    case 'disagreement':
      return 'the nodes disagree'
    case 'forked':
      return 'the scan is stopped until an operator has checked the chain'
    case 'limited':
      return 'the requests that the nodes allow are used up for now'
    case 'still-running':
      return 'a scan is still running'
    case 'out-of-time': // if the scan is behind, the sentence with the number of blocks says enough
      return behindBlocks > 0 ? null : 'the scan did not finish in time'
    case null:
      return null
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/**
 * `GET /tron/recharge` in the OpenAPI document. The Worker never calls this function, so its bundle
 * has none of these texts.
 */
export const tronRechargeDocs = () =>
  ({
    id: 'recharge',
    summary: 'Check for deposits now',
    description:
      'Credits what is final and not credited yet; `msg` has the result. Idempotent: however often it is called, at once or ' +
      'later, a deposit is credited once. It is a success where nothing is found. With `txid` the response is about that ' +
      'transaction only, whatever the position of the scan is; if it has credited some of your transfers in it and not others, ' +
      '`msg` names both.',
    query: rechargeQuery,
    parameters: {
      txid: { description: 'One transaction: 64 hex digits, optionally prefixed with `0x`.', example: docs.usdtTxid },
    },
    success: schemas.successBodyWithoutData('Recharged'),
    examples: [
      { name: 'two deposits', given: 'two deposits, not scanned yet' },
      { name: 'nothing new', given: 'two deposits, credited' },
      { name: 'not final', given: 'two deposits that are not final' },
      { name: 'one transaction', given: 'two deposits, not scanned yet', query: `?txid=${docs.usdtTxid}` },
      { name: 'the same again', given: 'two deposits, credited', query: `?txid=0x${docs.usdtTxid}` },
    ],
    failures: [badQuery('?txid=25'), ...txidFailures(), ...chainFailures(`?txid=${docs.usdtTxid}`, 'an address and ')],
  }) satisfies docs.Operation
