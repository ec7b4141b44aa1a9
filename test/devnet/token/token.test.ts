import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Devnet, startDevnet, temporary } from '../chain.ts'
import { tokenBase58, tokenCall } from '../control.ts'
import { depositHex, result } from '../support.ts'
import { compileToken, readTokenArtifact, tokenSelector } from './compile.ts'

const owner = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const other = '9965507d1a55bcc2695c58ba16fb37d819b0a4dc'

interface Log {
  readonly topics: readonly string[]
  readonly data: string
}

let devnet: Devnet

beforeAll(async () => {
  devnet = await startDevnet(temporary)
})
afterAll(() => devnet.stop())

/** Sends a call of the token by its owner, mines it, and returns its logs. */
async function logsOf(data: string, value = '0'): Promise<readonly Log[]> {
  const { txid } = await devnet.send({ from: owner, to: devnet.tokenAddress, data, value })
  await devnet.mine()
  return (await result<{ logs: Log[] }>(devnet, 'eth_getTransactionReceipt', txid)).logs
}

function word(value: bigint | string): string {
  return (typeof value === 'string' ? value : value.toString(16)).padStart(64, '0')
}

async function balanceOf(address: string): Promise<bigint> {
  const call = { to: `0x${devnet.tokenAddress}`, data: tokenCall('balanceOf(address)', address, 0n).slice(0, 74) }
  return BigInt(await result<string>(devnet, 'eth_call', call, 'latest'))
}

it('the stored bytecode is the compiled source', () => {
  expect(readTokenArtifact()).toStrictEqual(compileToken())
})

it('has the address from test/devnet/dev.vars, and 6 decimals', async () => {
  const call = { to: `0x${devnet.tokenAddress}`, data: `0x${tokenSelector('decimals()')}` }
  expect(tokenBase58).toBe('TJhSSbZ8dVqtEiLYgva1WWcV4R4NkRCARH')
  expect(BigInt(await result<string>(devnet, 'eth_call', call, 'latest'))).toBe(6n)
})

describe('the token', () => {
  it('moves several amounts in one transaction, with a log for each', async () => {
    const head = [word(0x40n), word(0xa0n)].join('')
    const body = [word(2n), word(depositHex), word(other), word(2n), word(5n), word(7n)].join('')
    const logs = await logsOf(`0x${tokenSelector('transferMany(address[],uint256[])')}${head}${body}`)
    expect(logs.map(({ topics, data }) => [topics[2], BigInt(data)])).toStrictEqual([
      [`0x${word(depositHex)}`, 5n],
      [`0x${word(other)}`, 7n],
    ])
    expect([await balanceOf(depositHex), await balanceOf(other)]).toStrictEqual([5n, 7n])
  })

  it('moves nothing for an account without allowance, but logs a transfer of zero', async () => {
    const call = (value: bigint) =>
      `0x${tokenSelector('transferFrom(address,address,uint256)')}${word(owner.slice(2))}${word(depositHex)}${word(value)}`
    const sent = await Promise.all([0n, 1n].map((value) => devnet.send({ to: devnet.tokenAddress, data: call(value) })))
    await devnet.mine()
    const receipts = await Promise.all(
      sent.map(({ txid }) => result<{ status: string; logs: Log[] }>(devnet, 'eth_getTransactionReceipt', txid)),
    )
    expect(receipts.map(({ status, logs }) => [status, logs.length])).toStrictEqual([
      ['0x1', 1],
      ['0x0', 0],
    ])
  })
})
