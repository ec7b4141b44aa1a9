import { expect, it } from 'vitest'
import { parseBlocks, type ReadTransactions } from '../../../src/worker/tron/parse/block.ts'
import { renderBlock } from '../../support/block-json.ts'
import { busyChain } from '../harness.ts'

const chain = busyChain()
const { firstHeight } = chain
const built = chain.at(firstHeight)
if (built === undefined) throw new Error('a block')
const text = JSON.stringify({ block: [renderBlock(built).api()] })
/**
 * Parses the block, with a changed text if given, as the reply of a further node; `known` has what
 * was parsed before.
 */
const parsed = (known: ReadTransactions, change = (one: string) => one) => {
  const read = parseBlocks(JSON.parse(change(text)), firstHeight, 1, known)
  if (!read.ok) throw new Error(read.error)
  return read.value
}

it('bytes that were read of one node are not read again of another one, if they are the same', () => {
  const known: ReadTransactions = new Map()
  const [first] = parsed(known).blocks
  const [second] = parsed(known).blocks
  expect(second).toEqual(first)
  expect(first?.transactions).toHaveLength(4)
  for (const [i, { contract }] of (first?.transactions ?? []).entries()) {
    expect(second?.transactions[i]?.contract).toBe(contract)
  }
})

it("other bytes under a txid that was read are a lie, and the result of a transaction is each node's own", () => {
  const known: ReadTransactions = new Map()
  parsed(known)
  const other = parsed(known, (one) => one.replace(/("raw_data_hex":"[^"]*)..(?=")/, '$1ff'))
  expect(other).toMatchObject({ blocks: [], fault: expect.stringContaining('another txid') })
  const failed = parsed(known, (one) => one.replace('"SUCCESS"', '"REVERT"'))
  expect(failed.blocks[0]?.transactions.map(({ result }) => result)).toEqual([
    'REVERT',
    'SUCCESS',
    'SUCCESS',
    'SUCCESS',
  ])
})
