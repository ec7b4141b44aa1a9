import { quantity, strip0x } from '../support/hex.ts'
import { EvmError } from './evm.ts'
import type { DevnetNode } from './node.ts'
import {
  invalid,
  invalidCall,
  type Method,
  parseHashParameter,
  parseHeight,
  parseStateAddress,
  RpcError,
  requireLatest,
  requireText,
} from './parameters.ts'

const callFields = new Set(['from', 'to', 'data', 'input', 'value', 'gas', 'gasPrice', 'nonce'])

/**
 * The methods that read state. A full node's state is its newest block plus all unmined transactions, which is anvil's
 * `pending`: a balance can include transactions that are in no block yet (PROTOCOL.md, Balances).
 */
export function stateMethods(node: DevnetNode): [string, Method][] {
  const { evm } = node
  return [
    [
      'eth_getBalance',
      {
        parameters: 2,
        run: async ([address, tag]) => {
          requireLatest(tag)
          return quantity(await node.balance(parseStateAddress(address)))
        },
      },
    ],
    [
      'eth_getCode',
      {
        parameters: 2,
        run: async ([address, tag]) => {
          requireLatest(tag)
          return evm.call('eth_getCode', `0x${parseStateAddress(address)}`, 'pending')
        },
      },
    ],
    [
      'eth_getStorageAt',
      {
        parameters: 3,
        run: async ([address, slot, tag]) => {
          requireLatest(tag)
          return evm.call(
            'eth_getStorageAt',
            `0x${parseStateAddress(address)}`,
            `0x${strip0x(requireText(slot))}`,
            'pending',
          )
        },
      },
    ],
    ['eth_call', { parameters: 2, run: ([call, block]) => ethCall(node, call, block) }],
    [
      'eth_estimateGas',
      { parameters: 1, run: async ([call]) => withTronError(evm.call('eth_estimateGas', toEvmCall(call))) },
    ],
  ]
}

async function ethCall(node: DevnetNode, given: unknown, block: unknown): Promise<unknown> {
  const call = toEvmCall(given)
  if (typeof block === 'string') requireLatest(block)
  else if (typeof block === 'object' && block !== null) await requireExistingBlock(node, block)
  else throw new RpcError(-32600, 'invalid json request')
  const code = await node.evm.call<string>('eth_getCode', call.to, 'pending')
  if (code === '0x') throw new RpcError(-32600, 'Smart contract is not exist.')
  return withTronError(node.evm.call('eth_call', call, 'pending'))
}

/** A block given as an object must exist, but the result is of the newest state all the same. */
async function requireExistingBlock(node: DevnetNode, block: object): Promise<void> {
  if ('blockNumber' in block) {
    const height = parseHeight(block.blockNumber, await node.heads())
    if ((await node.blockAt(height)) === null) throw new RpcError(-32000, 'header not found')
  } else if ('blockHash' in block) {
    if ((await node.blockByHash(parseHashParameter(block.blockHash))) === null) {
      throw new RpcError(-32000, 'header for hash not found')
    }
  } else throw new RpcError(-32600, 'invalid json request')
}

function toEvmCall(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw invalidCall()
  if (Object.keys(given).some((key) => !callFields.has(key))) throw invalidCall()
  const { from, to, data, input, value } = given as Record<string, unknown> // an object, by the checks above
  const code = strip0x(requireText(input ?? data ?? '0x'))
  if (!/^([0-9a-f]{2})*$/i.test(code)) throw invalid('invalid input value')
  return {
    to: `0x${parseStateAddress(to)}`,
    data: `0x${code}`,
    ...(from === undefined ? {} : { from: `0x${parseStateAddress(from)}` }),
    ...(value === undefined ? {} : { value: requireText(value) }),
  }
}

/** A revert as a Tron error: the message ends with the reason if there is one, and `data` is the returned bytes. */
async function withTronError<T>(result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (error) {
    if (!(error instanceof EvmError)) throw error
    const reason = /^execution reverted: (.*)$/s.exec(error.message)?.[1]
    const reverted = error.message.startsWith('execution reverted')
    const message = reverted ? `REVERT opcode executed${reason === undefined ? '' : `: ${reason}`}` : error.message
    throw new RpcError(-32000, message, error.data ?? '{}')
  }
}
