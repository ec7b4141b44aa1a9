/** The reading part of a node's HTTP API: blocks and transactions, as recorded from java-tron 4.8.0. HTTP status 200 for everything. */
import { strip0x } from '../support/hex.ts'
import type { BlockWithReceipts, MinedTransaction } from './blocks.ts'
import { ControlError } from './control.ts'
import type { DevnetNode } from './node.ts'
import type { Body, WalletCall } from './wallet-api.ts'

const blocksMax = 100
/** The only block producer. It has no key. */
const witness = `41${'5e'.repeat(20)}`

/** The calls that read blocks and transactions. `{}` stands for what the chain does not have. */
export function createReadCalls(node: DevnetNode): ReadonlyMap<string, WalletCall> {
  return new Map<string, WalletCall>([
    ['getblock', (body) => getBlock(node, body)],
    ['getnowblock', async () => shown(await node.blockAt((await node.heads()).latest))],
    ['getblockbynum', async ({ num }) => shown(isHeight(num) ? await node.blockAt(num) : null)],
    ['getblockbylimitnext', (body) => getBlocks(node, body)],
    ['gettransactionbyid', (body) => getTransactionById(node, body)],
  ])
}

/** Blocks from `startNum` to the one before `endNum`, at most 100. */
async function getBlocks(node: DevnetNode, { startNum, endNum }: Body): Promise<unknown> {
  if (!isHeight(startNum) || !isHeight(endNum)) return {}
  if (endNum <= startNum || endNum - startNum > blocksMax) return {}
  const blocks = await node.blocksAt(startNum, endNum - 1)
  return blocks.length === 0 ? {} : { block: blocks.map((block) => shown(block)) }
}

async function getBlock(node: DevnetNode, { id_or_num: wanted, detail = false }: Body): Promise<unknown> {
  const text = String(wanted ?? (await node.heads()).latest)
  const isHash = /^[0-9a-f]{64}$/i.test(text)
  if (!isHash && !/^\d{1,15}$/.test(text)) return { Error: 'id must be legal block hash.' }
  const block = isHash ? await node.blockByHash(text.toLowerCase()) : await node.blockAt(Number(text))
  return shown(block, detail === true)
}

async function getTransactionById(node: DevnetNode, { value }: Body): Promise<unknown> {
  const id = typeof value === 'string' ? strip0x(value).toLowerCase() : ''
  if (!/^[0-9a-f]{64}$/.test(id)) throw new ControlError('INVALID hex String')
  const found = await node.findTransaction(id)
  return found?.kind === 'mined' ? toApiTransaction(found.transaction) : {}
}

/** In a block without transactions the member is absent, and so is a number of zero. */
function shown(block: BlockWithReceipts | null, isWhole = true): unknown {
  if (block === null) return {}
  const raw = {
    ...(block.height === 0 ? {} : { number: block.height }),
    txTrieRoot: strip0x(block.transactionsRoot),
    witness_address: witness,
    parentHash: block.parentHash,
    version: 32,
    timestamp: Number(block.timestamp) * 1_000,
  }
  const header = { blockID: block.hash, block_header: { raw_data: raw, witness_signature: '00'.repeat(65) } }
  if (!isWhole || block.transactions.length === 0) return header
  return { ...header, transactions: block.transactions.map(toApiTransaction) }
}

function toApiTransaction({ tron, ret }: MinedTransaction) {
  return {
    ret: [{ contractRet: ret }],
    signature: [tron.signature],
    txID: tron.txid,
    raw_data: tron.rawJson,
    raw_data_hex: tron.rawHex,
  }
}

function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
