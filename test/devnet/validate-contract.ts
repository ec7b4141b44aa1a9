import type { DevnetNode } from './node.ts'
import type { RawTransaction } from './parse-transaction.ts'
import { chainPrices } from './resources.ts'
import type { Payer } from './settle.ts'

/** Why a node does not take a transaction, with java-tron's code and text. */
export class Refusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const minimumStake = 1_000_000n

function invalid(why: string): never {
  throw new Refusal('CONTRACT_VALIDATE_ERROR', `Contract validate error : ${why}`)
}

/** Refuses a contract that its sender's account does not allow. `netFee` is sun for its bytes. */
export async function validateContract(
  node: DevnetNode,
  { contract, feeLimit }: RawTransaction,
  payer: Payer,
  netFee: number,
  targetActive: boolean,
): Promise<void> {
  if (contract === null) return invalid('No contract!')
  const { owner, target, amount } = contract.parameters
  const available = payer.balance - BigInt(netFee)
  const isContract = target !== null && (await node.evm.call<string>('eth_getCode', `0x${target}`, 'pending')) !== '0x'
  switch (contract.type) {
    case 'TransferContract': {
      if (owner === target) invalid('Cannot transfer TRX to yourself.')
      if (amount <= 0n) invalid('Amount must be greater than 0.')
      if (isContract) invalid('Cannot transfer TRX to a smartContract.')
      const fee = targetActive ? 0n : BigInt(chainPrices.newAccountFee)
      if (available < amount + fee) invalid('Validate TransferContract error, balance is not sufficient.')
      return
    }
    case 'AccountCreateContract':
      if (targetActive) invalid('Account has existed')
      if (available < BigInt(chainPrices.newAccountFee))
        invalid('Validate CreateAccountActuator error, insufficient fee.')
      return
    case 'TriggerSmartContract':
      if (feeLimit < 0 || feeLimit > chainPrices.feeLimitMax) {
        invalid(`feeLimit must be >= 0 and <= ${chainPrices.feeLimitMax}`)
      }
      if (!isContract) invalid('No contract or not a smart contract')
      if (available < amount) invalid('Validate InternalTransfer error, balance is not sufficient.')
      return
    case 'FreezeBalanceV2Contract':
      if (amount < minimumStake) invalid('frozenBalance must be greater than or equal to 1 TRX')
      if (available < amount) invalid('frozenBalance must be less than or equal to accountBalance')
      return
    default:
      validateDelegation(contract, payer, targetActive, isContract)
  }
}

function validateDelegation(
  { type, parameters, resource }: NonNullable<RawTransaction['contract']>,
  { resources, now }: Payer,
  targetActive: boolean,
  isContract: boolean,
): void {
  const { owner, target, amount } = parameters
  const receiver = target ?? ''
  const name = resource === 'ENERGY' ? 'Energy' : 'Bandwidth'
  if (type === 'DelegateResourceContract') {
    if (amount < minimumStake) invalid('delegateBalance must be greater than or equal to 1 TRX')
    if (resources.delegatable(owner, resource, now) < amount) {
      invalid(`delegateBalance must be less than or equal to available Freeze${name}V2 balance`)
    }
    if (!targetActive) invalid(`Account[41${receiver}] not exists`)
    if (isContract) invalid('Do not allow delegate resources to contract addresses')
    return
  }
  const delegated = resources.delegation(owner, receiver, resource)
  if (delegated === 0n) invalid('delegated Resource does not exist')
  if (delegated < amount) {
    invalid(`insufficient delegateFrozenBalance(${name}), request=${amount}, unlock_balance=${delegated}`)
  }
}
