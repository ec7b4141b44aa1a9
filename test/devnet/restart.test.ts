import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startAnvil } from './anvil.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { depositBase58, depositHex, postApi, result, transactionById } from './support.ts'
import { createWalletClient, operator, prepareAccounts, type Reply, transfer } from './wallet-client.ts'

interface Block {
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
}

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devnet-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('blocks, transactions, receipts, logs, balances and synthetic transactions survive a restart', async () => {
  const options = { ...temporary, statePath: join(folder, 'state.json') }
  const readAll = async (devnet: Devnet, txids: readonly string[]) => ({
    blocks: (await postApi(devnet, 'getblockbylimitnext', { startNum: 0, endNum: 5 })).block as readonly unknown[],
    receipts: await Promise.all(txids.map((txid) => result(devnet, 'eth_getTransactionReceipt', txid))),
    bytes: await Promise.all(txids.map((txid) => transactionById(devnet, txid))),
    balance: await result(devnet, 'eth_getBalance', depositHex, 'latest'),
  })

  const first = await startDevnet(options)
  const txids: string[] = []
  for (const currency of ['TRX', 'USDT', 'TRC10'] as const) {
    txids.push((await first.pay({ to: depositBase58, amount: '1.5', currency })).txid)
  }
  await first.mine(3)
  const before = await readAll(first, txids)
  await first.stop()

  const second = await startDevnet(options)
  try {
    expect(second.startedAt).toBe(4)
    expect(await readAll(second, txids)).toStrictEqual(before)
    expect(before.receipts).toMatchObject([{ status: '0x1' }, { status: '0x1' }, { status: '0x1' }])
    expect(before.balance).toBe('0x16e360')
    await second.mine()
    const next = await result<Block>(second, 'eth_getBlockByNumber', '0x5', false)
    const last = await result<Block>(second, 'eth_getBlockByNumber', '0x4', false)
    expect(before.blocks).toHaveLength(5)
    expect(next.parentHash).toBe(last.hash)
    expect(Number(next.timestamp) - Number(last.timestamp)).toBe(3)
  } finally {
    await second.stop()
  }
})

it('broadcast transactions, accounts, stakes and what was used of them survive a restart', async () => {
  const options = { ...temporary, statePath: join(folder, 'state.json') }
  const first = await startDevnet(options)
  await prepareAccounts(first)
  const client = createWalletClient(first)
  const from = client.unused()
  await first.pay({ to: from.base58, amount: '9', currency: 'USDT' })
  await first.mine()
  const replies: Reply[] = []
  for (const send of [
    () => client.send(operator, from.base58, { kind: 'activate' }),
    () => client.send(operator, from.base58, { kind: 'delegate', sun: '20000000000' }),
    () => client.send(from, from.base58, transfer('USDT', '9000000')),
  ]) {
    replies.push(await send())
    await first.mine()
  }
  const readAll = async ({ info, resourcesOf, call }: typeof client) => [
    await Promise.all(replies.map(info)),
    await Promise.all([from, operator].map(({ base58 }) => resourcesOf(base58))),
    await call('getaccount', { address: operator.base58, visible: true }),
  ]
  const before = await readAll(client)
  expect(before[0]).toMatchObject([{ fee: 1_100_000 }, {}, { receipt: { result: 'SUCCESS', net_usage: 345 } }])
  await first.stop()
  const second = await startDevnet(options)
  try {
    expect(await readAll(createWalletClient(second))).toStrictEqual(before)
  } finally {
    await second.stop()
  }
})

it('a damaged state file is an error that mentions the state', async () => {
  const statePath = join(folder, 'state.json')
  writeFileSync(statePath, '{"block"')
  await expect(startAnvil({ ...temporary, port: 0, statePath })).rejects.toThrow(/anvil did not start: .*state/i)
})

it('blocks are made at the given interval, with times 3 s apart, also after a restart', async () => {
  const options = { ...temporary, statePath: join(folder, 'state.json'), blockSeconds: 1 }
  const first = await startDevnet(options)
  await first.stop()
  const devnet = await startDevnet(options)
  try {
    const { txid } = await devnet.pay({ to: depositBase58, amount: '1', currency: 'TRX' })
    await expect
      .poll(() => result(devnet, 'eth_getTransactionReceipt', txid), { timeout: 15_000 })
      .toMatchObject({ status: '0x1' })
    const { latest } = await devnet.mine()
    const timeOf = async (height: number) =>
      Number((await result<Block>(devnet, 'eth_getBlockByNumber', `0x${height.toString(16)}`, false)).timestamp)
    const [start, end] = [await timeOf(1), await timeOf(latest)]
    expect(end - start).toBe(3 * (latest - 1))
  } finally {
    await devnet.stop()
  }
})
