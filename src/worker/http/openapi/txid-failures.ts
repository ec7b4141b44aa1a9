import type { Reason } from '../../common/reasons.ts'
import * as docs from './docs.ts'
import { refused } from './failures.ts'

/**
 * The documented failures of a query about one transaction: it is unknown, not final, not decided
 * yet, or credits nothing.
 */
export const txidFailures = (): readonly docs.Failure[] => {
  const query = `?txid=${docs.usdtTxid}`
  const unknown = `?txid=${'ab'.repeat(32)}`
  return [
    {
      name: 'unknown-transaction',
      cause: 'The nodes do not have the transaction: it is mistyped, on another network, or was never broadcast.',
      cure: 'Look it up in the wallet that sent it. If it was sent just now, try again in a few seconds.',
      given: 'an address',
      query: unknown,
    },
    refused('not-final', { given: 'two deposits that are not final', query }),
    refused('finality-late', { given: 'two deposits that are not final, late', query }),
    refused('nodes-disagree', { given: 'nodes that disagree', query }),
    refused('credited-otherwise', { given: 'a deposit that was credited to somebody else', query }),
    refused('review', { given: 'a deposit that is held for review', query }),
    refused('chain-forked', { given: 'a chain that has forked', query: unknown }),
    refused('configuration-differs', { given: 'a scanner whose configuration differs', query }),
    ...oneOfEachKind.map(([reason, txid]) =>
      refused(reason, { given: 'a transaction of each kind', query: `?txid=${txid}` }),
    ),
  ]
}

/**
 * Transactions that are not credited, or not yet. The txids are those of the chain that a test
 * builds to send the service these examples.
 */
const oneOfEachKind: readonly (readonly [reason: Reason, txid: string])[] = [
  ['decimals-unknown', 'a2bf582516607b8f38ef0335fcf6bc33665aff89e2222ba0b764641c2af762d8'],
  ['decimals-differ', '7e93f41cf0e8f90fd3e6c48921e813b029291fe02f50c9a24e3d85ba794dbf4e'],
  ['too-large', 'aa23ef5a73fdf7a1787bbb1f97a694386561982342fd041a8134dcc8daaa36be'],
  ['wallet-full', 'ef8de70500800a5bc5b6d54f820a9501c457bd822dc68a748b5b0c2c9b72fdf7'],
  ['transaction-unreadable', 'ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879'],
  ['paid-before-issue', '4a1c5b18a120deec51ebfacc5eeed153f2bd9be3d0d27caf5380c169df429854'],
  ['retired', '0109c8057c2afa9276a1513dd0e4f3a08ff50dd774feb056183cbd91be24a55e'],
  ['below-minimum', '76dc18aa93c906626c4df1327adb949726494c804c2802531c7e43c1389aaeb9'],
  ['dust', '3697220aaf4e7e85bb3eec0ed3ba119b82c3a887f90c62b9c0a07280ccc3bdff'],
  ['transaction-failed', '9afcf93d950f1e6bb5467eab5d73e61339e8581f94f685a490bdbae846a9880d'],
  ['not-accepted', 'a8d25760bcc5ddbf4538a5cc3d65cc429c3f8fc1a66da9ea2637b83aab3f1042'],
  ['trc10', 'a0c43b162522eb05e0cab1ce841b43c57c47e56d97be335c852ffb539a1e51db'],
  ['not-a-transfer', '72d1545b0c5a7ca627a20b063079b339634bc8cf5e4bac6b246a1775f8abc1b0'],
  ['zero-amount', '16491a946c5e6c45df5b0e14338d02d34aeeedb709f451a8b72b743a573ccdd5'],
  ['no-transfer', '9f0d101922918a4642fdc6e7fe0d2c06bbd66f7ee8312e226e951eae81ed5155'],
  ['from-own-address', '69692ec3aeff66bd4de77edb912e3cb8324860d979721e700bb2018791f2256c'],
  ['internal-transfer', 'daf1bedd43c3eabdae660892796e2391a151a2f5f2f55d9f649fce6c38913edc'],
  ['from-operator', 'b2afe2f6d95c1a2597af4e5cace051edf7b199daedaf83fe4970c66b866d2525'],
]
