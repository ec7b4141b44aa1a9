/** What a transaction of one type does, for somebody who expected a TRX deposit. */
export interface ContractType {
  readonly name: string
  /** One sentence without a full stop at its end: why a transaction of this type is no TRX deposit. */
  readonly why: string
}

/** The types that decisions are made on, by their number in the chain's protocol. */
export const contractTypes = { transfer: 1, trc10: 2, contractCall: 31 } as const

const closed = 'which this network has closed'
const trc10Sale = 'a sale or issue of a TRC-10 token, not TRX sent to you'
const order = 'an order on the token exchange of the chain, not TRX sent to you'
const governance = 'a vote on how the network is run and moves no TRX to you'
const settings = 'a change of settings and moves no TRX'

/**
 * java-tron protocol/core/Tron.proto, enum ContractType (read November 2026). What JSON-RPC shows as `to` and `value`
 * of each is in the fact sheet, §5.3.
 */
const known: ReadonlyMap<number, ContractType> = new Map([
  [0, { name: 'AccountCreateContract', why: 'this creates an account and moves no TRX to it' }],
  [1, { name: 'TransferContract', why: 'this is a TRX transfer, but its bytes are not those of a valid one' }],
  [2, { name: 'TransferAssetContract', why: 'this is a TRC-10 token transfer, not TRX' }],
  [3, { name: 'VoteAssetContract', why: `this is ${governance}` }],
  [4, { name: 'VoteWitnessContract', why: 'this is a vote for block producers: its number counts votes, not TRX' }],
  [5, { name: 'WitnessCreateContract', why: 'this is an application as block producer: its fee goes to the network' }],
  [6, { name: 'AssetIssueContract', why: 'this issues a TRC-10 token: its fee goes to the network' }],
  [8, { name: 'WitnessUpdateContract', why: `this is ${settings}` }],
  [9, { name: 'ParticipateAssetIssueContract', why: `this is ${trc10Sale}` }],
  [10, { name: 'AccountUpdateContract', why: `this is ${settings}` }],
  [11, { name: 'FreezeBalanceContract', why: 'this stakes TRX of its sender: the receiver gets resources, not TRX' }],
  [
    12,
    { name: 'UnfreezeBalanceContract', why: 'this unstakes TRX, which goes back to its sender, not to the receiver' },
  ],
  [13, { name: 'WithdrawBalanceContract', why: 'this pays a reward to its own sender' }],
  [14, { name: 'UnfreezeAssetContract', why: 'this releases TRC-10 tokens to their issuer, not TRX' }],
  [15, { name: 'UpdateAssetContract', why: `this is ${settings}` }],
  [16, { name: 'ProposalCreateContract', why: `this is ${governance}` }],
  [17, { name: 'ProposalApproveContract', why: `this is ${governance}` }],
  [18, { name: 'ProposalDeleteContract', why: `this is ${governance}` }],
  [19, { name: 'SetAccountIdContract', why: `this is ${settings}` }],
  [20, { name: 'CustomContract', why: `this is a custom transaction, ${closed}` }],
  [30, { name: 'CreateSmartContract', why: 'this creates a smart contract and sends nothing to an address' }],
  [
    31,
    {
      name: 'TriggerSmartContract',
      why: 'this is a contract call: TRX attached to it goes to the contract, not to you',
    },
  ],
  [32, { name: 'GetContract', why: `this is a contract query, ${closed}` }],
  [33, { name: 'UpdateSettingContract', why: `this is ${settings}` }],
  [41, { name: 'ExchangeCreateContract', why: `this is ${order}` }],
  [42, { name: 'ExchangeInjectContract', why: `this is ${order}` }],
  [43, { name: 'ExchangeWithdrawContract', why: `this is ${order}` }],
  [44, { name: 'ExchangeTransactionContract', why: `this is ${order}` }],
  [45, { name: 'UpdateEnergyLimitContract', why: `this is ${settings}` }],
  [46, { name: 'AccountPermissionUpdateContract', why: 'this changes permissions: its fee goes to the network' }],
  [48, { name: 'ClearABIContract', why: `this is ${settings}` }],
  [49, { name: 'UpdateBrokerageContract', why: `this is ${settings}` }],
  [51, { name: 'ShieldedTransferContract', why: `this is a shielded token transfer, ${closed}` }],
  [52, { name: 'MarketSellAssetContract', why: `this is ${order}` }],
  [53, { name: 'MarketCancelOrderContract', why: `this is ${order}` }],
  [54, { name: 'FreezeBalanceV2Contract', why: 'this stakes TRX of its sender and pays nobody' }],
  [55, { name: 'UnfreezeBalanceV2Contract', why: 'this begins to unstake TRX of its sender and pays nobody' }],
  [56, { name: 'WithdrawExpireUnfreezeContract', why: 'this pays unstaked TRX back to its own sender' }],
  [57, { name: 'DelegateResourceContract', why: 'this lends bandwidth or energy to the receiver and moves no TRX' }],
  [58, { name: 'UnDelegateResourceContract', why: 'this takes lent bandwidth or energy back and moves no TRX' }],
  [59, { name: 'CancelAllUnfreezeV2Contract', why: 'this cancels the unstaking of its sender and pays nobody' }],
])

/** What a transaction of type `number` is; every number has an answer. */
export function describeContractType(number: number): ContractType {
  return (
    known.get(number) ?? {
      name: `type ${number}`,
      why: `this is a transaction of type ${number}, which is not a TRX transfer`,
    }
  )
}
