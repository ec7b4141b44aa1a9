/** The types that decisions depend on, by their number in the chain's protocol. */
export const contractTypes = { transfer: 1, trc10: 2, contractCall: 31 } as const

const closed = 'which this network has disabled'
const trc10Sale = 'a purchase of a TRC-10 token, not a transfer of TRX to you'
const order = 'an order on the token exchange of the chain, not a transfer of TRX to you'
const governance = 'a governance vote and transfers no TRX'
const settings = 'a change of settings and transfers no TRX'

/** java-tron protocol/core/Tron.proto, enum ContractType (PROTOCOL.md, Contract types). */
const reasons: ReadonlyMap<number, string> = new Map([
  [0, 'this creates an account and transfers no TRX to it'], // AccountCreateContract
  [1, 'this is a TRX transfer whose bytes are not valid'], // TransferContract
  [2, 'this is a TRC-10 token transfer, not TRX'], // TransferAssetContract
  [3, `this is ${governance}`], // VoteAssetContract
  // VoteWitnessContract
  [4, 'this is a vote for block producers: its number is a number of votes, not an amount of TRX'],
  [5, 'this is an application to become a block producer: its fee goes to the network'], // WitnessCreateContract
  [6, 'this issues a TRC-10 token: its fee goes to the network'], // AssetIssueContract
  [8, `this is ${settings}`], // WitnessUpdateContract
  [9, `this is ${trc10Sale}`], // ParticipateAssetIssueContract
  [10, `this is ${settings}`], // AccountUpdateContract
  [11, 'this stakes the TRX of its sender: the receiver gets resources, not TRX'], // FreezeBalanceContract
  [12, 'this unstakes TRX, which returns to its sender, not to the receiver'], // UnfreezeBalanceContract
  [13, 'this pays a reward to its own sender'], // WithdrawBalanceContract
  [14, 'this releases TRC-10 tokens to their issuer, not TRX'], // UnfreezeAssetContract
  [15, `this is ${settings}`], // UpdateAssetContract
  [16, `this is ${governance}`], // ProposalCreateContract
  [17, `this is ${governance}`], // ProposalApproveContract
  [18, `this is ${governance}`], // ProposalDeleteContract
  [19, `this is ${settings}`], // SetAccountIdContract
  [20, `this is a custom transaction, ${closed}`], // CustomContract
  [30, 'this creates a smart contract and transfers nothing to an address'], // CreateSmartContract
  [31, 'this is a contract call: the TRX in it goes to the contract, not to you'], // TriggerSmartContract
  [32, `this is a contract query, ${closed}`], // GetContract
  [33, `this is ${settings}`], // UpdateSettingContract
  [41, `this is ${order}`], // ExchangeCreateContract
  [42, `this is ${order}`], // ExchangeInjectContract
  [43, `this is ${order}`], // ExchangeWithdrawContract
  [44, `this is ${order}`], // ExchangeTransactionContract
  [45, `this is ${settings}`], // UpdateEnergyLimitContract
  [46, 'this changes permissions: its fee goes to the network'], // AccountPermissionUpdateContract
  [48, `this is ${settings}`], // ClearABIContract
  [49, `this is ${settings}`], // UpdateBrokerageContract
  [51, `this is a shielded token transfer, ${closed}`], // ShieldedTransferContract
  [52, `this is ${order}`], // MarketSellAssetContract
  [53, `this is ${order}`], // MarketCancelOrderContract
  [54, 'this stakes the TRX of its sender and transfers none'], // FreezeBalanceV2Contract
  [55, 'this starts to unstake the TRX of its sender and transfers none'], // UnfreezeBalanceV2Contract
  [56, 'this returns unstaked TRX to its own sender'], // WithdrawExpireUnfreezeContract
  [57, 'this delegates bandwidth or energy to the receiver and transfers no TRX'], // DelegateResourceContract
  [58, 'this ends a delegation of bandwidth or energy and transfers no TRX'], // UnDelegateResourceContract
  [59, 'this cancels the unstaking of its sender and transfers no TRX'], // CancelAllUnfreezeV2Contract
])

/** Why a transaction of this type is not a TRX deposit: one sentence for the caller, without a full stop. */
export function explainContractType(type: number): string {
  return reasons.get(type) ?? `this is a transaction of type ${type}, which is not a TRX transfer`
}
