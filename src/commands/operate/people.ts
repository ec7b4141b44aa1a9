import { isSameName } from '../../worker/common/ids.ts'
import { isReadableRemark } from '../../worker/common/remark.ts'
import { assetsSchema } from '../../worker/config/chain.ts'
import { type Bindings, parseBindings } from '../../worker/config/schemas.ts'
import { parseBackendName } from '../../worker/ledger/entry.ts'
import { byLimits } from '../../worker/payouts/payout.ts'
import type { ConfigurationSource } from '../configuration.ts'
import { readServiceUrl } from '../payout/settings.ts'
import { pathIn } from '../place.ts'
import { OptionError } from '../tool-error.ts'
import { type Options, type PersonParts, readOption, type Work } from './options.ts'
import { openSecret, readScopes } from './secret.ts'
import { post, type ShownItem } from './service.ts'

// Actions of a named person. They call the service's routes for backends, which check the rules,
// with a token that the command signs itself (`openSecret`).

const attemptsForm = 'the number that the stuck payout shows'
const idForm = /^[1-9]\d{0,14}$/
const txidForm = /^(?:0x)?[0-9a-f]{64}$/i
const positionForm = /^(?:0|[1-9]\d{0,14}|i\d{1,9})$/

/** `desk-token`: prints a token with which the named person can use the desk for an hour. */
export function makeDeskToken(options: Options, _: readonly string[], parts: PersonParts): Work {
  const name = readName(options)
  const scope = readScopes(options)
  return async ({ place, values }) => {
    const sign = await openSecret(options, values, parts)
    const token = await sign(name, scope)
    const isPlaced = place.env === undefined || options.service !== undefined
    const shown = isPlaced ? `${urlOf(options, place)}/desk#token=${token}` : token
    const where = isPlaced ? 'Open it' : 'Paste it at /desk of the deployment'
    return `${shown}\n${where}: ${name} may do this for an hour: ${scope}. So may whoever else has it.`
  }
}

/**
 * `payouts approve`: approves waiting or stuck payouts that another name has asked for. A stuck one
 * takes `--attempts` with the number that it shows, so that the command, run again, approves none
 * that has got stuck since.
 */
export function prepareApproval(options: Options, ids: readonly string[], parts: PersonParts): Work {
  const attempts =
    options.attempts === undefined ? 0 : Number(readOption(options, 'attempts', /^\d{1,9}$/, attemptsForm))
  const body = { ids: readIds(ids), attempts, ...movedOf(options) }
  return acting(options, parts, 'ledger:approve', '/ledger/payouts/approve', body)
}

/** `payouts cancel`: cancels payouts, and returns their money to the wallets. */
export function prepareCancellation(options: Options, ids: readonly string[], parts: PersonParts): Work {
  const body = { ids: readIds(ids), why: readWhy(options), ...movedOf(options) }
  return acting(options, parts, 'ledger:approve', '/ledger/payouts/cancel', body)
}

/** `deposits decide`: credits or refuses a deposit that is held for review. */
export function prepareDecision(options: Options, words: readonly string[], parts: PersonParts): Work {
  const [txid = '', position = '', decision, ...others] = words
  const isDecision = decision === 'credit' || decision === 'refuse'
  if (!txidForm.test(txid) || !positionForm.test(position) || !isDecision || others.length > 0) {
    throw new OptionError('deposits decide: a txid, its position as the desk lists it, and credit or refuse')
  }
  const deposit = { txid, position: position.startsWith('i') ? position : Number(position) }
  const body = { deposits: [{ ...deposit, decision, why: readWhy(options) }] }
  return acting(options, parts, 'ledger:approve', '/ledger/deposits/decide', body)
}

/**
 * The work that sends a request in a person's name, and prints the payouts or deposits as they are
 * afterwards.
 */
function acting(options: Options, parts: PersonParts, scope: string, path: string, body: object): Work {
  const name = readName(options)
  return async ({ place, values }) => {
    const base = urlOf(options, place)
    parts.streams.output.write(`Asks ${base} as ${name}.\n`)
    const sign = await openSecret(options, values, parts)
    const list = await post(base + pathIn(place, path), await sign(name, scope), body)
    return list.map((one) => lineOf(one, values)).join('\n')
  }
}

/** A payout or deposit in one line, with its state. */
function lineOf(one: ShownItem, values: Bindings): string {
  const { state, reason, attempts, id, amt, cuy, to, address, uid, osn, txid, approved_by: who } = one
  const assets = parseBindings(assetsSchema, values)
  const symbol = assets.ok ? assets.value.currencies.list.find((one) => one.cuy === cuy)?.symbol : undefined
  const amount = `${amt} ${symbol ?? `of currency ${cuy}`}`
  const what = to === undefined ? `deposit of ${amount} at ${address}` : `payout ${id}, ${amount} to ${to}`
  const ended = attempts ? `, ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}` : ''
  return `${state}${reason ? ` (${reason})` : ''}${ended}: ${what} (user ${uid}, ${osn ?? txid})${who ? `, approved by ${who}` : ''}`
}

/** The URL of the service: on this machine that of `npm start`, else the one in `--service`. */
export const urlOf = ({ service }: Options, { env }: ConfigurationSource['place']) =>
  readServiceUrl({ service, env, production: false })

const movedOf = ({ moved }: Options) => (moved === true ? { moved: true } : {})

function readName(options: Options): string {
  const name = parseBackendName(
    readOption(options, 'name', /./, 'who does it: 1 to 64 letters, digits, ".", "_" or "-"'),
  )
  if (name !== null && !isSameName(name, byLimits)) return name
  throw new OptionError('--name: who does it: 1 to 64 letters, digits, ".", "_" or "-"')
}

function readWhy({ reason = '' }: Options): string {
  if (isReadableRemark(reason)) return reason
  throw new OptionError('--reason: the reason, 1 to 200 characters that can be read')
}

function readIds(words: readonly string[]): readonly number[] {
  if (words.length > 0 && words.length <= 20 && words.every((word) => idForm.test(word))) return words.map(Number)
  throw new OptionError('payouts: the ids of 1 to 20 payouts')
}
