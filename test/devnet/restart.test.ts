import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startAnvil } from './anvil.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { blocksOf, depositBase58, depositHex, minedTransaction, payAllCurrencies, result } from './support.ts'
import { createWalletClient, operator, prepareAccounts, transfer } from './wallet-client.ts'

let folder = ''
let running: Devnet[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devnet-'))
})
afterEach(async () => {
  for (const devnet of running) await devnet.stop()
  running = []
  rmSync(folder, { recursive: true, force: true })
})

it('blocks, transactions, balances, accounts and their resources survive restarts', async () => {
  const options = { ...temporary, statePath: join(folder, 'state.json') }
  const first = await startDevnet(options)
  running.push(first)
  const txids = Object.values(await payAllCurrencies(first))
  await prepareAccounts(first)
  const client = createWalletClient(first)
  const [, from = operator] = [client.unused(), client.unused()] // the first unused address is the deposit address
  await first.pay({ to: from.base58, amount: '9', currency: 'USDT' })
  await first.mine()
  for (const send of [
    () => client.send(operator, from.base58, { kind: 'activate' }),
    () => client.send(operator, from.base58, { kind: 'delegate', sun: '20000000000' }),
    () => client.send(from, from.base58, transfer('USDT', '9000000')),
  ]) {
    txids.push(String((await send()).txid))
    await first.mine()
  }
  const readAll = async (devnet: Devnet) => {
    const { call, resourcesOf } = createWalletClient(devnet)
    return {
      blocks: await blocksOf(devnet, 0, 12),
      receipts: await Promise.all(txids.map((txid) => result(devnet, 'eth_getTransactionReceipt', txid))),
      bytes: await Promise.all(txids.map((txid) => minedTransaction(devnet, txid))),
      infos: await Promise.all(txids.map((value) => call('gettransactioninfobyid', { value }))),
      balance: await result(devnet, 'eth_getBalance', depositHex, 'latest'),
      resources: await Promise.all([from, operator].map(({ base58 }) => resourcesOf(base58))),
      account: await call('getaccount', { address: operator.base58, visible: true }),
    }
  }
  const before = await readAll(first)
  expect(before.receipts).toMatchObject(Array(6).fill({ status: '0x1' }))
  expect(before.infos[5]).toMatchObject({ receipt: { result: 'SUCCESS', net_usage: 345 } })
  expect(before.blocks).toHaveLength(12)
  await first.stop()

  const second = await startDevnet(options)
  running = [second]
  expect(second.startedAt).toBe(11)
  expect(await readAll(second)).toStrictEqual(before)
  await second.stop()

  // A chain that makes blocks by a timer goes on where it was: 3 s after its newest block.
  const third = await startDevnet({ ...options, isTimed: true })
  running = [third]
  const { txid } = await third.pay({ to: depositBase58, amount: '1', currency: 'TRX' })
  const receipt = () => result(third, 'eth_getTransactionReceipt', txid)
  await expect.poll(receipt, { timeout: 30_000 }).toMatchObject({ status: '0x1' })
  const { latest } = await third.mine()
  const headers = (await blocksOf(third, 11, latest + 1)).map(({ block_header: { raw_data: raw } }) => raw)
  const ages = headers.map(({ timestamp }) => (timestamp - (headers[0]?.timestamp ?? 0)) / 1_000)
  expect(ages).toEqual(headers.map((_, i) => 3 * i))
})

it('a payment that was reported is there after the chain was killed, and so is every final block', async () => {
  const options = { ...temporary, statePath: join(folder, 'state.json'), isTimed: true }
  const first = await startDevnet(options)
  running.push(first)
  const { txid } = await first.pay({ to: depositBase58, amount: '1', currency: 'TRX' })
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  await first.stop()
  running = []

  const second = await startDevnet(options)
  running.push(second)
  expect(await result(second, 'eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x1' })
  await second.keepInTime()
  const finalOf = async (devnet: Devnet) =>
    Number((await result<{ number: string }>(devnet, 'eth_getBlockByNumber', 'finalized', false)).number)
  // No final block is lost, whenever the chain ends: a block is stored before it is final.
  await expect.poll(() => finalOf(second), { timeout: 30_000 }).toBeGreaterThan(second.startedAt)
  const final = await finalOf(second)
  process.kill(second.pid, 'SIGKILL')
  await second.ended
  await second.stop()
  running = []
  const third = await startDevnet(options)
  running.push(third)
  expect(third.startedAt).toBeGreaterThanOrEqual(final)
})

it('a damaged state file is an error that mentions the state', async () => {
  const statePath = join(folder, 'state.json')
  writeFileSync(statePath, '{"block"')
  await expect(startAnvil({ ...temporary, port: 0, statePath })).rejects.toThrow(/anvil did not start: .*state/i)
})

it('a chain that is brought to the clock makes its next block at the present time', async () => {
  const devnet = await startDevnet({ ...temporary, isTimed: true, behindSeconds: 60 })
  running.push(devnet)
  const newest = async () => {
    const { number, timestamp } = await result<{ number: string; timestamp: string }>(
      ...([devnet, 'eth_getBlockByNumber', 'latest', false] as const),
    )
    return { number: Number(number), timeMs: Number(timestamp) * 1_000 }
  }
  expect((await newest()).timeMs).toBeLessThan(Date.now() - 30_000)
  await devnet.keepInTime()
  const [before, slotMs] = [await newest(), Date.now() - (Date.now() % 3_000)]
  const next = async () => ((await newest()).number > before.number ? (await newest()).timeMs : 0)
  await expect.poll(next, { timeout: 30_000 }).toBeGreaterThan(0)
  expect((await newest()).timeMs).toBeGreaterThan(slotMs)
})
