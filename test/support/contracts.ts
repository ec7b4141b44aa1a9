/**
 * The contract types of a Tron transaction: the fields of their messages, and the `to` and `value` that JSON-RPC shows
 * (PROTOCOL.md, Contract types).
 */

/** The parameters of a contract, in one form for all types. Addresses are 40 hex digits. */
export interface ContractParameters {
  readonly owner: string
  /** The other party: the recipient, the receiver of a delegation or the called contract. */
  readonly target: string | null
  /** Smallest units: sun, TRC-10 units or votes, depending on the type. */
  readonly amount: bigint
  /** Call data or creation code, hex digits without `0x`. */
  readonly code: string
}

/** One field of a message: its number, its name in the HTTP API, and the source of its content. */
export type ContractField =
  | { readonly no: number; readonly name: string; readonly from: 'owner' | 'target' | 'amount' | 'code' }
  | { readonly no: number; readonly name: string; readonly text: string }
  | { readonly no: number; readonly name: string; readonly number: number }
  /** A message; `isList` if the field is repeated. */
  | { readonly no: number; readonly name: string; readonly fields: readonly ContractField[]; readonly isList: boolean }

/** A contract type. */
export interface ContractSpec {
  readonly id: number
  readonly fields: readonly ContractField[]
  /** Whether JSON-RPC shows the target as `to`; otherwise it shows null. */
  readonly showsTarget: boolean
  /** The `value` in JSON-RPC: the amount, or a constant in sun. */
  readonly shownValue: 'amount' | bigint
}

const trx = 1_000_000n
const owner = { no: 1, name: 'owner_address', from: 'owner' } as const

function from(no: number, name: string, source: 'owner' | 'target' | 'amount' | 'code'): ContractField {
  return { no, name, from: source }
}
function text(no: number, name: string, content: string): ContractField {
  return { no, name, text: content }
}
function number(no: number, name: string, content: number): ContractField {
  return { no, name, number: content }
}
function message(no: number, name: string, ...fields: readonly ContractField[]): ContractField {
  return { no, name, fields, isList: false }
}
function list(no: number, name: string, ...fields: readonly ContractField[]): ContractField {
  return { no, name, fields, isList: true }
}
function spec(
  id: number,
  to: 'target' | null,
  shownValue: 'amount' | bigint,
  ...fields: readonly ContractField[]
): ContractSpec {
  return { id, fields, showsTarget: to !== null, shownValue }
}

/** The contracts that use an exchange have the same fields, one of them has a further one. */
function exchange(id: number, ...more: readonly ContractField[]): ContractSpec {
  const token = text(3, 'token_id', '_')
  return spec(id, null, 'amount', owner, number(2, 'exchange_id', 1), token, from(4, 'quant', 'amount'), ...more)
}

/** All contract types, by name in the HTTP API. */
export const contractSpecs = {
  AccountCreateContract: spec(0, 'target', 0n, owner, from(2, 'account_address', 'target')),
  TransferContract: spec(1, 'target', 'amount', owner, from(2, 'to_address', 'target'), from(3, 'amount', 'amount')),
  TransferAssetContract: spec(
    2,
    'target',
    'amount',
    text(1, 'asset_name', '1000001'),
    from(2, 'owner_address', 'owner'),
    from(3, 'to_address', 'target'),
    from(4, 'amount', 'amount'),
  ),
  VoteWitnessContract: spec(
    4,
    'target',
    'amount',
    owner,
    list(2, 'votes', from(1, 'vote_address', 'target'), from(2, 'vote_count', 'amount')),
  ),
  WitnessCreateContract: spec(5, null, 9_999n * trx, owner, text(2, 'url', 'https://example.org')),
  AssetIssueContract: spec(
    6,
    null,
    1_024n * trx,
    owner,
    text(2, 'name', 'TRX'),
    text(3, 'abbr', 'TRX'),
    from(4, 'total_supply', 'amount'),
    number(6, 'trx_num', 1),
    number(7, 'precision', 6),
    number(8, 'num', 1),
  ),
  WitnessUpdateContract: spec(8, null, 0n, owner, text(12, 'update_url', 'https://example.org')),
  ParticipateAssetIssueContract: spec(
    9,
    'target',
    0n,
    owner,
    from(2, 'to_address', 'target'),
    text(3, 'asset_name', '1000001'),
    from(4, 'amount', 'amount'),
  ),
  AccountUpdateContract: spec(10, null, 0n, text(1, 'account_name', 'name'), from(2, 'owner_address', 'owner')),
  FreezeBalanceContract: spec(
    11,
    'target',
    'amount',
    owner,
    from(2, 'frozen_balance', 'amount'),
    number(3, 'frozen_duration', 3),
    from(15, 'receiver_address', 'target'),
  ),
  UnfreezeBalanceContract: spec(12, 'target', 'amount', owner, from(15, 'receiver_address', 'target')),
  WithdrawBalanceContract: spec(13, null, 'amount', owner),
  UnfreezeAssetContract: spec(14, null, 'amount', owner),
  UpdateAssetContract: spec(15, null, 0n, owner, text(2, 'description', 'text'), text(3, 'url', 'https://example.org')),
  ProposalCreateContract: spec(16, null, 0n, owner, list(2, 'parameters', number(1, 'key', 9), number(2, 'value', 1))),
  ProposalApproveContract: spec(17, null, 0n, owner, number(2, 'proposal_id', 1)),
  ProposalDeleteContract: spec(18, null, 0n, owner, number(2, 'proposal_id', 1)),
  SetAccountIdContract: spec(19, null, 0n, text(1, 'account_id', 'someaccount'), from(2, 'owner_address', 'owner')),
  CreateSmartContract: spec(
    30,
    null,
    0n,
    owner,
    message(
      2,
      'new_contract',
      from(1, 'origin_address', 'owner'),
      from(4, 'bytecode', 'code'),
      from(5, 'call_value', 'amount'),
    ),
  ),
  TriggerSmartContract: spec(
    31,
    'target',
    'amount',
    owner,
    from(2, 'contract_address', 'target'),
    from(3, 'call_value', 'amount'),
    from(4, 'data', 'code'),
  ),
  UpdateSettingContract: spec(
    33,
    'target',
    0n,
    owner,
    from(2, 'contract_address', 'target'),
    number(3, 'consume_user_resource_percent', 50),
  ),
  ExchangeCreateContract: spec(
    41,
    null,
    1_024n * trx,
    owner,
    text(2, 'first_token_id', '1000001'),
    from(3, 'first_token_balance', 'amount'),
    text(4, 'second_token_id', '_'),
    from(5, 'second_token_balance', 'amount'),
  ),
  ExchangeInjectContract: exchange(42),
  ExchangeWithdrawContract: exchange(43),
  ExchangeTransactionContract: exchange(44, number(5, 'expected', 1)),
  UpdateEnergyLimitContract: spec(
    45,
    'target',
    0n,
    owner,
    from(2, 'contract_address', 'target'),
    number(3, 'origin_energy_limit', 1_000),
  ),
  AccountPermissionUpdateContract: spec(46, null, 100n * trx, owner),
  ClearABIContract: spec(48, 'target', 0n, owner, from(2, 'contract_address', 'target')),
  UpdateBrokerageContract: spec(49, null, 0n, owner, number(2, 'brokerage', 20)),
  ShieldedTransferContract: spec(
    51,
    'target',
    'amount',
    from(1, 'transparent_from_address', 'owner'),
    from(6, 'transparent_to_address', 'target'),
    from(7, 'to_amount', 'amount'),
  ),
  MarketSellAssetContract: spec(
    52,
    null,
    0n,
    owner,
    text(2, 'sell_token_id', '1000001'),
    from(3, 'sell_token_quantity', 'amount'),
    text(4, 'buy_token_id', '_'),
    number(5, 'buy_token_quantity', 1),
  ),
  MarketCancelOrderContract: spec(53, null, 0n, owner, text(2, 'order_id', 'order')),
  FreezeBalanceV2Contract: spec(54, null, 0n, owner, from(2, 'frozen_balance', 'amount')),
  UnfreezeBalanceV2Contract: spec(55, null, 0n, owner, from(2, 'unfreeze_balance', 'amount')),
  WithdrawExpireUnfreezeContract: spec(56, null, 'amount', owner),
  DelegateResourceContract: spec(
    57,
    'target',
    0n,
    owner,
    from(3, 'balance', 'amount'),
    from(4, 'receiver_address', 'target'),
  ),
  UnDelegateResourceContract: spec(
    58,
    'target',
    0n,
    owner,
    from(3, 'balance', 'amount'),
    from(4, 'receiver_address', 'target'),
  ),
  CancelAllUnfreezeV2Contract: spec(59, null, 'amount', owner),
} as const satisfies Record<string, ContractSpec>

/** The name of a contract type. */
export type ContractName = keyof typeof contractSpecs

/** Whether `name` is the name of a contract type. */
export function isContractName(name: string): name is ContractName {
  return Object.hasOwn(contractSpecs, name)
}
