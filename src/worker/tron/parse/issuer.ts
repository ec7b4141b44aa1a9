import type { Address } from '../../chain/address.ts'
import { addressInTopic, type Log, type Txid } from '../../chain/block.ts'
import type { IssuerAct } from '../../chain/chain.ts'

/**
 * The first topics of the events with which a token's issuer acts, as Tether's contract has them
 * (PROTOCOL.md, Acts of an issuer).
 */
const kinds: ReadonlyMap<string | undefined, IssuerAct['kind']> = new Map([
  ['0x42e160154868087d6bfdc0ca23d96a1c1cfa32f1b72ba9ba27b69b98a0d819dc', 'frozen'], // AddedBlackList(address)
  ['0xd7e9ec6e6ecd65492dce6bf513cd6867560d49544421d0783ddf06e76c24470c', 'released'], // RemovedBlackList(address)
  // DestroyedBlackFunds(address,uint256)
  ['0x61e6e66b0d6339b2980aecc6ccc0039736791f0ccde9ed512e789a7fbdd698c6', 'destroyed'],
  ['0x6985a02210a168e66602d3235cb6db0e70f92b3ba4d376a33c0f3d9434bff625', 'paused'], // Pause()
  ['0x7805862f689e2f13df9f062ff482ad3ad112aca9e0847911ed832e158c525b33', 'unpaused'], // Unpause()
  ['0xb044a1e409eac5c48e5af22d4af52670dd1a99059537a78b31b48c6500a6354e', 'fee-set'], // Params(uint256,uint256)
  ['0xcc358699805e9a8b7f77b522628c7cb9abd07d9efb86b6fb616af1609036a99e', 'deprecated'], // Deprecate(address)
])

/**
 * Finds acts of issuers in logs of successful transactions. Only logs of an accepted contract
 * count, which nobody can forge. Parameters are topics or words of the data. `indexOf` returns the
 * index of a transaction in its block.
 */
export function parseActs(
  logs: readonly Log[],
  tokens: ReadonlySet<Address>,
  indexOf: (txid: Txid) => number,
): readonly IssuerAct[] {
  const acts: IssuerAct[] = []
  for (const { txid, position, contract, topics, data } of logs) {
    const kind = kinds.get(topics[0])
    if (kind === undefined || !tokens.has(contract)) continue
    const act = readAct(kind, [...topics.slice(1), ...wordsOf(data)])
    if (act !== null) acts.push({ txid, index: indexOf(txid), position, contract, ...act })
  }
  return acts
}

type Act = Pick<IssuerAct, 'kind' | 'address' | 'amount' | 'basisPoints'>

const nothing = { address: null, amount: null, basisPoints: null }

/** The act with these parameters; null if they are not exactly those of its kind. */
function readAct(kind: IssuerAct['kind'], words: readonly string[]): Act | null {
  const [first, second, third] = words
  const address = addressInTopic(first)
  switch (kind) {
    case 'frozen':
    case 'released':
    case 'deprecated':
      return address === null || second !== undefined ? null : { ...nothing, kind, address }
    case 'destroyed':
      if (address === null || second === undefined || third !== undefined) return null
      return { ...nothing, kind, address, amount: BigInt(second) }
    case 'paused':
    case 'unpaused':
      return first === undefined ? { ...nothing, kind } : null
    case 'fee-set':
      if (first === undefined || second === undefined || third !== undefined) return null
      return { ...nothing, kind, basisPoints: BigInt(first), amount: BigInt(second) }
  }
}

const wordDigits = 64

/** Splits data into words of 32 bytes. A shorter rest is a word that matches no parameter. */
function wordsOf(data: string): readonly string[] {
  const words: string[] = []
  for (let i = 2; i < data.length; i += wordDigits) words.push(`0x${data.slice(i, i + wordDigits)}`)
  return words
}

/** The text on which nodes must agree: one line for each act. */
export function renderActs(acts: readonly IssuerAct[]): string {
  const lines = acts.map(({ txid, index, position, contract, kind, address, amount, basisPoints }) => {
    return `${txid} ${index} ${position} ${contract} ${kind} ${address} ${basisPoints} ${amount}`
  })
  return lines.join('\n')
}
