import { encodeStep, type StepContent } from '../../src/commands/collect/transaction.ts'
import type { SigningKey } from '../../src/commands/signing/account-key.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { encodeSigned, txidOf } from '../../src/worker/chain/transaction.ts'
import { keysOf, testMnemonic } from '../commands/collect/harness.ts'
import type { Devnet } from './chain.ts'
import { tokenBase58 } from './control.ts'
import { treasuryBase58 } from './operator.ts'
import { postApi, result } from './support.ts'

/** An account of the test mnemonic. */
export interface TestAccount extends SigningKey {
  readonly base58: string
}

export type Reply = Readonly<Record<string, unknown>>

/** What the transaction of a collection's step does, without its place in a plan. */
export type Content = StepContent extends infer Step
  ? Step extends unknown
    ? Omit<Step, 'id' | 'index' | 'after' | 'address'>
    : never
  : never

/** The parts of a transaction that a test makes wrong. */
export interface Changes {
  readonly expiration?: number
  readonly hash?: string
  readonly signer?: TestAccount
}

const keys = keysOf(testMnemonic)
const accountAt = (number: number, index: number): TestAccount => {
  const key = keys.depositKey(number, index)
  return { ...key, base58: formatBase58(key.address) }
}

/** The account to which `prepareAccounts` gives TRX and a stake for energy. */
export const operator = accountAt(1, 0)
/** The destination of transfers. */
export const outside = treasuryBase58

/** A step that transfers a currency from the step's own address to `outside`. */
export const transfer = (symbol: 'TRX' | 'USDT' | 'NONE', units: string, feeLimit = '100000000') =>
  ({ kind: 'transfer', symbol, units, energy: 0, feeLimit }) as const

/** A client of the chain's HTTP API that makes and signs its transactions. */
export function createWalletClient(devnet: Devnet) {
  let nextId = 1
  let nextIndex = 0
  const call = (path: string, body: object): Promise<Reply> => postApi(devnet, path, body)
  const signed = async (from: TestAccount, address: string, content: Content, changes: Changes = {}) => {
    const newest = await result<{ number: string; hash: string; timestamp: string }>(
      devnet,
      'eth_getBlockByNumber',
      'latest',
      false,
    )
    const headMs = Number(newest.timestamp) * 1_000
    const header = {
      to: outside,
      gas: { mode: 'delegate' as const, address: from.base58 },
      reference: { height: Number(newest.number), hash: changes.hash ?? newest.hash.slice(2) },
      timestamp: headMs,
      expiration: changes.expiration ?? headMs + 60_000,
      currencies: [
        { symbol: 'TRX', contract: null, decimals: 6 },
        { symbol: 'USDT', contract: tokenBase58, decimals: 6 },
        { symbol: 'NONE', contract: outside, decimals: 6 }, // no contract is at this address
      ],
    }
    const rawData = encodeStep(header, { ...content, id: nextId++, index: 0, after: [], address } as StepContent)
    const signature = (changes.signer ?? from).sign(rawData)
    return { txid: txidOf(rawData), headMs, transaction: encodeSigned(rawData, signature) }
  }
  return {
    call,
    /** A deposit address that no other test uses. */
    unused: () => accountAt(0, nextIndex++),
    /** A signed transaction of `from` about `address`. Its reference block is the newest one. */
    signed,
    send: async (from: TestAccount, address: string, content: Content, changes?: Changes) =>
      call('broadcasthex', { transaction: (await signed(from, address, content, changes)).transaction }),
    info: (reply: Reply) => call('gettransactioninfobyid', { value: reply.txid }),
    resourcesOf: (address: string) => call('getaccountresource', { address, visible: true }),
  }
}

/** Gives the operator TRX and a stake, and creates `outside`. */
export async function prepareAccounts(devnet: Devnet): Promise<void> {
  await devnet.pay({ to: operator.base58, amount: '1000', currency: 'TRX' })
  await devnet.pay({ to: outside, amount: '1', currency: 'TRX' })
  await devnet.stake({ owner: operator.base58, amount: '50000' })
  await devnet.mine(3)
}

/** Decodes hex digits of UTF-8. */
export const textOf = (hex: unknown) => Buffer.from(String(hex), 'hex').toString('utf8')
