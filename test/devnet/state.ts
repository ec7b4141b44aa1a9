import { EvmError } from './anvil.ts'
import { strip } from './hex.ts'
import type { TronNode } from './node.ts'
import {
  blockHeight,
  hash32,
  invalid,
  invalidCall,
  type Method,
  RpcError,
  requireLatest,
  stateAddress,
  text,
} from './rules.ts'

const callFields = new Set(['from', 'to', 'data', 'input', 'value', 'gas', 'gasPrice', 'nonce'])

/**
 * A full node's state is its newest block with every waiting transaction on top: anvil's `pending`. So a balance can hold
 * what no block holds yet, as on a real node.
 */
export function stateMethods(node: TronNode): [string, Method][] {
  const { evm } = node
  return [
    [
      'eth_getBalance',
      {
        parameters: 2,
        run: async ([address, tag]) => {
          requireLatest(tag)
          return evm.call('eth_getBalance', `0x${stateAddress(address)}`, 'pending')
        },
      },
    ],
    [
      'eth_getCode',
      {
        parameters: 2,
        run: async ([address, tag]) => {
          requireLatest(tag)
          return evm.call('eth_getCode', `0x${stateAddress(address)}`, 'pending')
        },
      },
    ],
    [
      'eth_getStorageAt',
      {
        parameters: 3,
        run: async ([address, slot, tag]) => {
          requireLatest(tag)
          return evm.call('eth_getStorageAt', `0x${stateAddress(address)}`, `0x${strip(text(slot))}`, 'pending')
        },
      },
    ],
    ['eth_call', { parameters: 2, run: ([call, block]) => ethCall(node, call, block) }],
    ['eth_estimateGas', { parameters: 1, run: async ([call]) => asTron(evm.call('eth_estimateGas', evmCall(call))) }],
  ]
}

async function ethCall(node: TronNode, given: unknown, block: unknown): Promise<unknown> {
  const call = evmCall(given)
  if (typeof block === 'string') requireLatest(block)
  else if (typeof block === 'object' && block !== null) await requireKnown(node, block)
  else throw new RpcError(-32600, 'invalid json request')
  const code = await node.evm.call<string>('eth_getCode', call.to, 'pending')
  if (code === '0x') throw new RpcError(-32600, 'Smart contract is not exist.')
  return asTron(node.evm.call('eth_call', call, 'pending'))
}

/** The object form is checked for existence, and then the newest state answers all the same. */
async function requireKnown(node: TronNode, block: object): Promise<void> {
  if ('blockNumber' in block) {
    const height = blockHeight(block.blockNumber, await node.tips())
    if ((await node.blockAt(height)) === null) throw new RpcError(-32000, 'header not found')
  } else if ('blockHash' in block) {
    if ((await node.blockBy(hash32(block.blockHash))) === null) {
      throw new RpcError(-32000, 'header for hash not found')
    }
  } else throw new RpcError(-32600, 'invalid json request')
}

function evmCall(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalidCall()
  if (Object.keys(given).some((key) => !callFields.has(key))) throw invalidCall()
  const { from, to, data, input, value } = given as Record<string, unknown> // an object, by the lines above
  const code = strip(text(input ?? data ?? '0x'))
  if (!/^([0-9a-f]{2})*$/i.test(code)) throw invalid('invalid input value')
  return {
    to: `0x${stateAddress(to)}`,
    data: `0x${code}`,
    ...(from === undefined ? {} : { from: `0x${stateAddress(from)}` }),
    ...(value === undefined ? {} : { value: text(value) }),
  }
}

/** A revert in Tron's words: the reason after a colon where there is one, the returned bytes in `data`. */
async function asTron<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof EvmError)) throw error
    const reason = /^execution reverted: (.*)$/s.exec(error.message)?.[1]
    const reverted = error.message.startsWith('execution reverted')
    const message = reverted ? `REVERT opcode executed${reason === undefined ? '' : `: ${reason}`}` : error.message
    throw new RpcError(-32000, message, error.data ?? '{}')
  }
}
