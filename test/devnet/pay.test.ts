import { execFile } from 'node:child_process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../support/project.ts'
import { type Devnet, startDevnet, temporary } from './chain.ts'
import { depositBase58, result } from './support.ts'

let devnet: Devnet

beforeAll(async () => {
  devnet = await startDevnet(temporary)
})
afterAll(() => devnet.stop())

/** Runs the command as npm does; returns its exit code and its output. */
function pay(args: readonly string[], port = new URL(devnet.apiUrl).port): Promise<{ code: number; output: string }> {
  const env = { ...process.env, DEVNET_PORT: port }
  return new Promise((resolve) => {
    execFile(
      `${root}node_modules/.bin/node`,
      [`${root}test/devnet/pay.ts`, ...args],
      { env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
  })
}

it.each<[string, string[], string]>([
  ['no arguments', [], 'Three arguments are required'],
  ['a fourth argument', [depositBase58, '1', 'TRX', 'now'], 'Three arguments are required'],
  ['an address with a changed letter', [`${depositBase58.slice(0, -1)}7`, '1', 'TRX'], 'is not a Tron address'],
  ['an Ethereum address', ['0xe2e1a54926527fbb4e4420de4c6bab82beaee24d', '1', 'TRX'], 'is not a Tron address'],
  ['an amount with a comma', [depositBase58, '1,5', 'TRX'], 'is not an amount'],
  ['an amount with a sign', [depositBase58, '-1', 'TRX'], 'is not an amount'],
  ['an amount of zero', [depositBase58, '0.0', 'TRX'], 'is not an amount'],
  ['an amount with seven decimals', [depositBase58, '0.0000001', 'TRX'], 'is not an amount'],
  ['a currency in lower case', [depositBase58, '1', 'usdt'], 'is not a currency'],
])('refuses %s in one sentence', async (_what, args, sentence) => {
  const { code, output } = await pay(args)
  expect(code).toBe(1)
  expect(output).toContain(sentence)
  expect(output.trim().split('\n')).toHaveLength(1)
})

it('recommends "npm start" if no local chain is running', async () => {
  const { code, output } = await pay([depositBase58, '1', 'TRX'], '1')
  expect([code, output]).toStrictEqual([1, 'No local chain is running on port 1: run "npm start" first.\n'])
})

it('sends a deposit and prints its txid', async () => {
  const { code, output } = await pay([depositBase58, '3.5', 'TRX'])
  expect(code).toBe(0)
  const txid = output.split('\n')[0] ?? ''
  expect(await result(devnet, 'eth_getTransactionByHash', txid)).toMatchObject({ value: '0x3567e0' })
})
