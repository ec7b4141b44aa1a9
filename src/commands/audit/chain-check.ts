import type { Address } from '../../worker/chain/address.ts'
import { type BlockHeight, isInternal, type Txid } from '../../worker/chain/block.ts'
import type { ChainTransfer, TransactionReading } from '../../worker/chain/chain.ts'
import { nodesSchema } from '../../worker/config/nodes.ts'
import { type Bindings, parseBindings } from '../../worker/config/schemas.ts'
import { readFinalizedHead } from '../../worker/tron/finalized-head.ts'
import { readInternalTransfers } from '../../worker/tron/internal.ts'
import { readFinalTransaction } from '../../worker/tron/transactions.ts'
import type { CommandPlatform } from '../node-pool.ts'
import { type AgreedNodes, openNodes } from '../nodes.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import type { ChainRow, ChainRows } from './chain-rows.ts'

type RowOf<Kind extends ChainRow['kind']> = Extract<ChainRow, { readonly kind: Kind }>

/** The nodes' answer about a row. */
type Verdict =
  | { readonly kind: 'found' }
  | { readonly kind: 'wrong'; readonly why: string }
  /** The nodes do not show enough of the transaction to say anything. */
  | { readonly kind: 'not-shown'; readonly why: string }

/** The outcome of looking up all rows, or those up to the first wrong one. */
export interface ChainReport {
  /** How many the chain has. */
  readonly found: number
  readonly wrong: { readonly number: number; readonly why: string } | null
  /** Those about which the nodes do not say enough. */
  readonly notShown: readonly { readonly number: number; readonly why: string }[]
}

/** Rows that are looked up at a time. The pace is that of `perSecond` in `TRON_NODES`. */
const rowsAtOnce = 4

/**
 * Looks up each credited deposit and each paid payout in the chain, from a line on, until one is
 * not as the archive says. `variables` have `TRON_NODES`, `TRON_QUORUM` and keys of nodes. Throws a
 * `ToolError` if too few nodes answer.
 */
export async function checkChain(
  rows: ChainRows,
  from: number,
  variables: Bindings,
  platform: CommandPlatform,
  progress: (done: number) => void,
): Promise<ChainReport> {
  const nodes = openConfigured(rows, variables, platform)
  const { header: head } = await nodes.read((session) => readFinalizedHead(session, null))
  const notShown: ChainReport['notShown'][number][] = []
  let found = 0
  for (const part of inParts(rows.after(from), rowsAtOnce)) {
    const verdicts = await Promise.all(part.map((row) => judgeOrStop(nodes, row, head.height)))
    for (const [i, verdict] of verdicts.entries()) {
      const number = part[i]?.number ?? 0
      if (verdict.kind === 'wrong') return { found, wrong: { number, why: verdict.why }, notShown }
      if (verdict.kind === 'not-shown') notShown.push({ number, why: verdict.why })
      else found += 1
    }
    progress(found + notShown.length)
  }
  return { found, wrong: null, notShown }
}

function openConfigured(
  { chainId, contracts }: ChainRows,
  variables: Bindings,
  platform: CommandPlatform,
): AgreedNodes {
  const parsed = parseBindings(nodesSchema, variables)
  if (!parsed.ok) throw new OptionError(`--nodes: ${parsed.error.join('; ')}`)
  // safe: 40 hex digits each
  const tokens = contracts as readonly Address[]
  const currencies = { byContract: new Map(tokens.map((token) => [token, null])) }
  return openNodes({ ...parsed.value, chainId, currencies }, { ...platform, signal: new AbortController().signal })
}

function* inParts<T>(all: Iterable<T>, size: number): Generator<readonly T[]> {
  let part: T[] = []
  for (const one of all) {
    part.push(one)
    if (part.length < size) continue
    yield part
    part = []
  }
  if (part.length > 0) yield part
}

async function judgeOrStop(nodes: AgreedNodes, row: ChainRow, head: BlockHeight): Promise<Verdict> {
  try {
    return await judge(nodes, row, head)
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    if (error.why === 'disagreement') return { kind: 'not-shown', why: 'the nodes contradict each other' }
    const next = `once they answer, run the same command with --from ${row.number}: what is before it is looked up`
    throw new ToolError(`line ${row.number} cannot be looked up: ${error.why}`, next)
  }
}

async function judge(nodes: AgreedNodes, row: ChainRow, head: BlockHeight): Promise<Verdict> {
  const { txid = '', height = 0 } = row.line
  const place = { txid: txid as Txid, height: height as BlockHeight } // safe: the forms of lines
  if (height > head) return wrong(`the chain has no final block ${height}: the newest one is ${head}`)
  const reading = await nodes.read((session) => readFinalTransaction(session, place.txid, place.height))
  if (reading === null) return wrong(`block ${height} of the chain has no transaction ${txid}`)
  if (!reading.succeeded) return wrong(`transaction ${txid} has failed`)
  return row.kind === 'deposit' ? judgeDeposit(nodes, row, reading) : judgePayout(row, reading)
}

const wrong = (why: string): Verdict => ({ kind: 'wrong', why })
const unreadable: Verdict = { kind: 'not-shown', why: 'not all of the transaction can be read' }

async function judgeDeposit(
  nodes: AgreedNodes,
  { line, contract }: RowOf<'deposit'>,
  reading: TransactionReading,
): Promise<Verdict> {
  const { txid, position, height, to_address, from_address, raw } = line
  let { transfers } = reading
  if (isInternal(position)) {
    const place = [txid as Txid, height as BlockHeight] as const // safe: the forms of lines
    const shown = await nodes.read((session) => readInternalTransfers(session, ...place))
    if (shown.kind === 'not-shown') return { kind: 'not-shown', why: 'the nodes keep no internal transactions of it' }
    transfers = shown.transfers
  }
  const one = transfers.find((transfer) => transfer.position === position)
  if (one === undefined) return reading.isWhole ? wrong(`transaction ${txid} moves nothing there`) : unreadable
  const isSame = moves(one, contract, to_address, raw) && one.from === from_address
  return isSame ? { kind: 'found' } : wrong(`transaction ${txid} moves something else there`)
}

/** A token with a fee gives the payee less than was sent: `received`. */
function judgePayout({ line, payment }: RowOf<'payout'>, { transfers, isWhole }: TransactionReading): Verdict {
  const { contract, to_address, raw, received = raw, txid } = line
  const isThere = transfers.some((one) => moves(one, contract, to_address, received) && one.from === payment.address)
  if (isThere) return { kind: 'found' }
  return isWhole ? wrong(`transaction ${txid} does not pay it`) : unreadable
}

/** Whether a transfer moves this amount of this token (empty: TRX) to this address. */
const moves = ({ asset, to, amount }: ChainTransfer, contract: string, recipient: string, raw: string) =>
  (asset.kind === 'native' ? '' : asset.contract) === contract && to === recipient && amount === BigInt(raw)
