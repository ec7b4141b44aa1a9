import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runAudit } from '../../../src/commands/audit/command.ts'
import { parseAddress } from '../../../src/worker/chain/address.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { result } from '../../devnet/support.ts'
import { callCommand } from '../../support/command.ts'
import { type CollectChain, startCollectChain } from '../collect/harness.ts'
import { type AnyLine, verifierKey, writeArchive } from './archive-builder.ts'
import { createStory } from './archive-story.ts'

const user = 7
const customer = 'TRZNYrx2RuWSDK26xqShVzxSUZDQYySQE4'
const hexOf = (base58: string) => {
  const address = parseAddress(base58)
  if (!address.ok) throw new Error(address.error)
  return address.value
}

let folder = ''
let chain: CollectChain
/** The lines of a deposit of TRX, one of USDT and a payout of USDT, as the chain has them. */
let lines: readonly AnyLine[]

interface Mined {
  readonly blockNumber: string
  readonly from: string
}

beforeAll(async () => {
  chain = await startCollectChain()
  const { devnet } = chain
  const recipient = chain.depositAt(0)
  const paid = [
    await devnet.pay({ to: recipient, amount: '60', currency: 'TRX' }),
    await devnet.pay({ to: recipient, amount: '25', currency: 'USDT' }),
    await devnet.pay({ to: customer, amount: '10', currency: 'USDT' }),
  ]
  await devnet.mine(5)
  const mined = await Promise.all(
    paid.map(async ({ txid }) => {
      const { blockNumber, from } = await result<Mined>(devnet, 'eth_getTransactionByHash', `0x${txid}`)
      return { txid, height: Number(blockNumber), from: from.slice(2).toLowerCase() }
    }),
  )
  const [trx, usdt, payment] = mined as [(typeof mined)[0], (typeof mined)[0], (typeof mined)[0]]
  const token = hexOf(tokenBase58)
  const story = createStory()
  story.configure()
  story.address(user)
  story.deposit(user, 1, 60_000_000n)
  story.deposit(user, 2, 25_000_000n)
  story.payout(user, 10_000_000n, true)
  story.complete()
  // the story is of another chain: its names become those of this one
  lines = story.lines.map((line) => {
    if (line.row === 'configuration') {
      const currencies = [
        { cuy: 1, decimals: 6, scale: 6, stored_at: 1 },
        { cuy: 2, contract: token, decimals: 6, scale: 6, stored_at: 1 },
      ]
      return { ...line, settings: [{ name: 'TRON_CHAIN_ID', value: '0x6465766e', stored_at: 1 }], currencies }
    }
    if (line.row === 'address') return { ...line, address: hexOf(recipient) }
    if (line.row === 'transfer') {
      const [{ txid, height, from }, raw] = line.cuy === 1 ? [trx, '60000000'] : [usdt, '25000000']
      return { ...line, txid, height, from_address: from, to_address: hexOf(recipient), raw }
    }
    if (line.row === 'payout') {
      const state = line.state === 'paid' ? { txid: payment.txid, height: payment.height } : {}
      return { ...line, contract: token, to_address: hexOf(customer), ...state }
    }
    if (line.row !== 'transaction') return line
    return { ...line, txid: payment.txid, height: payment.height, address: payment.from }
  })
}, 60_000)
afterAll(() => chain.stop())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-nodes-'))
  return () => rmSync(folder, { recursive: true, force: true })
})

/** Changes the lines of a kind, or those of them that `isMeant` chooses. */
const changed = (row: string, changes: object, isMeant: (line: AnyLine) => boolean = () => true) =>
  lines.map((line) => (line.row === row && isMeant(line) ? { ...line, ...changes } : line))

/** Verifies these lines with nodes. Returns the exit code, and what is printed about the chain. */
async function verify(list: readonly AnyLine[], nodes?: readonly object[], ...options: readonly string[]) {
  writeArchive(join(folder, 'archive'), list, { rows: 1_000 })
  const { rpcUrl, apiUrl } = chain.devnet
  const file = join(folder, 'nodes.json')
  writeFileSync(file, JSON.stringify(nodes ?? [{ rpc: rpcUrl, api: apiUrl, perSecond: 10_000, perDay: 100_000_000 }]))
  const args = ['verify', join(folder, 'archive'), '--verifier', verifierKey, '--nodes', file, ...options]
  const { code, all } = await callCommand(runAudit, args)
  const [, rest = all] = all.split('Nothing is wrong.\n')
  return { code, text: rest.replaceAll(join(folder, 'archive'), '.') }
}

describe('verify with nodes', () => {
  it('finds each deposit and payout in the chain', async () => {
    const { code, text } = await verify(lines)
    expect([code, text]).toEqual([
      0,
      expect.stringContaining('  The chain has 3 credited deposits and paid payouts.\n'),
    ])
  })

  it('looks up only the lines from one on', async () => {
    const { text } = await verify(lines, undefined, '--from', '5')
    expect(text).toContain('The chain has 2 credited')
  })

  const isTrx = (line: AnyLine) => line.cuy === 1
  it.each([
    ['a deposit in another block', 'transfer', { height: 2 }, isTrx, 'line 4: block 2 of the chain has no transaction'],
    [
      'a deposit from somebody else',
      'transfer',
      { from_address: 'ab'.repeat(20) },
      isTrx,
      'line 4: transaction \\w+ moves something else',
    ],
    [
      'a deposit at another position',
      'transfer',
      { position: 3 },
      isTrx,
      'line 4: transaction \\w+ moves nothing there',
    ],
    [
      'a deposit in a block that is none yet',
      'transfer',
      { height: 999_999 },
      isTrx,
      'line 4: the chain has no final block 999999',
    ],
    [
      'a payout to somebody else',
      'payout',
      { to_address: 'ab'.repeat(20) },
      () => true,
      'line 13: transaction \\w+ does not pay it',
    ],
    [
      'a payout by somebody else',
      'transaction',
      { address: 'ab'.repeat(20) },
      () => true,
      'line 13: transaction \\w+ does not pay it',
    ],
  ] as const)('says where %s is', async (_, row, changes, isMeant, why) => {
    const { code, text } = await verify(changed(row, changes, isMeant))
    expect([code, text]).toEqual([1, expect.stringMatching(new RegExp(`  WRONG \\S+000\\.jsonl, ${why}`))])
  })

  it('names apart what the nodes do not show, which is not wrong', async () => {
    const { code, text } = await verify(changed('transfer', { position: -1 }, isTrx))
    expect([code, text]).toEqual([0, expect.stringContaining('  The nodes do not show enough of 1:\n')])
    expect(text).toContain('line 4: the nodes keep no internal transactions of it.\n')
    expect(text).toContain('The chain has 2 credited')
  })

  it('stops where too few nodes answer, and says from where on to go on', async () => {
    const { rpcUrl, apiUrl } = chain.devnet
    const nodes = [
      { rpc: 'http://127.0.0.1:9/jsonrpc', api: 'http://127.0.0.1:9' },
      { rpc: rpcUrl, api: apiUrl },
    ]
    const { code, text } = await verify(lines, nodes)
    expect([code, text]).toEqual([1, expect.stringContaining('Stopped: ')])
    expect(text).not.toContain('WRONG')
  })

  it.each([
    ['no list of nodes', [{}], 'TRON_NODES'],
    ['no number of a line', undefined, '--from'],
  ])('refuses %s', async (_, nodes, why) => {
    const { code, text } = await verify(lines, nodes, ...(nodes === undefined ? ['--from', 'x'] : []))
    expect([code, text]).toEqual([2, expect.stringContaining(why)])
  })
})
