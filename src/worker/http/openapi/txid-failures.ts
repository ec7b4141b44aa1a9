import type { UndecidedReason, WorthlessReason } from '../../common/reasons.ts'
import { toProblem, toReasonedProblem } from '../errors.ts'
import * as docs from './docs.ts'
import { refused } from './failures.ts'

/** The documented failures of a query about one transaction: it is unknown, not final, not decided yet, or credits nothing. */
export const txidFailures = (): readonly docs.Failure[] => {
  const query = `?txid=${docs.usdtTxid}`
  const unknown = `?txid=${'ab'.repeat(32)}`
  const notFinal = (seconds: number | null, given: docs.Situation) =>
    refused(toReasonedProblem({ kind: 'not-final', seconds }), { given, query })
  const undecided = (reason: UndecidedReason, given: docs.Situation, why: string, asked = query) =>
    refused(toReasonedProblem({ kind: 'undecided', reason, why }), { given, query: asked })
  return [
    {
      name: 'unknown-transaction',
      problem: toProblem({ kind: 'not-found', what: 'transaction' }),
      cause: 'The nodes do not have the transaction: it is mistyped, on another network, or was never broadcast.',
      cure: 'Look it up in the wallet that sent it. If it was sent just now, try again in a few seconds.',
      given: 'an address',
      query: unknown,
    },
    notFinal(57, 'two deposits that are not final'),
    notFinal(null, 'two deposits that are not final, late'),
    undecided('nodes-disagree', 'nodes that disagree', 'the nodes disagree about this transaction'),
    undecided(
      'credited-otherwise',
      'a deposit that was credited to somebody else',
      'it was credited otherwise before the final blocks were corrected; the operator of this service has been told, and must decide',
    ),
    undecided('review', 'a deposit that is held for review', 'it is being looked at before it is credited'),
    undecided(
      'chain-forked',
      'a chain that has forked',
      'the nodes show another chain than before; nothing is credited until an operator has checked it',
      unknown,
    ),
    undecided(
      'configuration-differs',
      'a scanner whose configuration differs',
      'nothing is credited until an operator has corrected the configuration',
    ),
    ...undecidedTransactions.map(([reason, txid, why]) => ofEachKind({ kind: 'undecided', reason, why }, txid)),
    ...worthlessTransactions.map(([reason, txid, why]) => ofEachKind({ kind: 'worthless', reason, why }, txid)),
  ]
}

const ofEachKind = (failure: Parameters<typeof toReasonedProblem>[0], txid: string) =>
  refused(toReasonedProblem(failure), { given: 'a transaction of each kind', query: `?txid=${txid}` })

/** The end of a sentence about a contract call that credits nothing: the contract may have sent TRX that nodes no longer show. */
const notKept =
  '; if a contract sent TRX to you in it, too few nodes show that, since they may not keep it: it can be asked for again'

/** Examples of undecided transactions. The txids are those of the chain that a test builds to send the service these examples. */
const undecidedTransactions: readonly (readonly [reason: UndecidedReason, txid: string, why: string])[] = [
  [
    'decimals-unknown',
    'a2bf582516607b8f38ef0335fcf6bc33665aff89e2222ba0b764641c2af762d8',
    "the decimals of the token's contract could not be read yet",
  ],
  [
    'decimals-differ',
    '7e93f41cf0e8f90fd3e6c48921e813b029291fe02f50c9a24e3d85ba794dbf4e',
    "the decimals of the token's contract differ from the configured ones, so none of it is credited",
  ],
  [
    'too-large',
    'aa23ef5a73fdf7a1787bbb1f97a694386561982342fd041a8134dcc8daaa36be',
    'it is too large for one entry; an operator must decide about it',
  ],
  [
    'wallet-full',
    'ef8de70500800a5bc5b6d54f820a9501c457bd822dc68a748b5b0c2c9b72fdf7',
    'your wallet has no room for it; it is credited as soon as there is room',
  ],
  [
    'transaction-unreadable',
    'ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879',
    'this service cannot read this transaction, so nothing of it is credited; ask the operator',
  ],
  [
    'paid-before-issue',
    '4a1c5b18a120deec51ebfacc5eeed153f2bd9be3d0d27caf5380c169df429854',
    'it was final before this address was issued to you, so it is not credited; ask the operator',
  ],
]

const worthlessTransactions: readonly (readonly [reason: WorthlessReason, txid: string, why: string])[] = [
  [
    'retired',
    '0109c8057c2afa9276a1513dd0e4f3a08ff50dd774feb056183cbd91be24a55e',
    'its currency is no longer accepted; the deposit is kept, and nothing of it is credited',
  ],
  [
    'below-minimum',
    '76dc18aa93c906626c4df1327adb949726494c804c2802531c7e43c1389aaeb9',
    '1 TRX is below the smallest deposit that is credited, 2 TRX',
  ],
  [
    'dust',
    '3697220aaf4e7e85bb3eec0ed3ba119b82c3a887f90c62b9c0a07280ccc3bdff',
    '0.000005 USDT is less than the smallest amount in a wallet, 0.0001 USDT',
  ],
  [
    'transaction-failed',
    '9afcf93d950f1e6bb5467eab5d73e61339e8581f94f685a490bdbae846a9880d',
    'the transaction failed, so it paid nothing',
  ],
  [
    'not-accepted',
    'a8d25760bcc5ddbf4538a5cc3d65cc429c3f8fc1a66da9ea2637b83aab3f1042',
    `its Transfer event comes from the contract TRZNYrx2RuWSDK26xqShVzxSUZDNjAKj6g, which is not an accepted token${notKept}`,
  ],
  [
    'trc10',
    'a0c43b162522eb05e0cab1ce841b43c57c47e56d97be335c852ffb539a1e51db',
    'this is a TRC-10 token transfer, not TRX',
  ],
  [
    'not-a-transfer',
    '72d1545b0c5a7ca627a20b063079b339634bc8cf5e4bac6b246a1775f8abc1b0',
    'this delegates bandwidth or energy to the receiver and transfers no TRX',
  ],
  ['zero-amount', '16491a946c5e6c45df5b0e14338d02d34aeeedb709f451a8b72b743a573ccdd5', `it transfers 0 USDT${notKept}`],
  [
    'no-transfer',
    '9f0d101922918a4642fdc6e7fe0d2c06bbd66f7ee8312e226e951eae81ed5155',
    'it contains no transfer to one of your addresses',
  ],
  [
    'from-own-address',
    '69692ec3aeff66bd4de77edb912e3cb8324860d979721e700bb2018791f2256c',
    'it was sent from one of your own deposit addresses, so it is not a deposit',
  ],
  [
    'internal-transfer',
    'daf1bedd43c3eabdae660892796e2391a151a2f5f2f55d9f649fce6c38913edc',
    'it was sent from an address of this service; internal transfers are not deposits',
  ],
  [
    'from-operator',
    'b2afe2f6d95c1a2597af4e5cace051edf7b199daedaf83fe4970c66b866d2525',
    'it was sent by the operator of this service; such transfers are not deposits',
  ],
]
