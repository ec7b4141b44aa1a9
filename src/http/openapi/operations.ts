import * as z from 'zod/mini'
import { balanceQuery, flowListQuery, generateQuery, pageRowsDefault, pageRowsMax, rechargeQuery } from '../params.ts'
import { callerFailures, chainUnavailable, serviceFailures } from './failures.ts'
import { operation } from './operation.ts'
import {
  addressAnswer,
  balanceAnswer,
  flowListAnswer,
  healthAnswer,
  rechargeAnswer,
  walletListAnswer,
} from './response-schemas.ts'

const noQuery = z.object({})

/** The deposits of the examples, as the built chain of the replaying test has them. */
const usdtTxid = 'abb9f1fb506a53f9b34c1494ec31341c51b680ae34f92ea694835b8099e686ba'
const trxTxid = '2624f452ae15842a43db87b3bc951bbb00d3f2b802da47424392e13a87d26450'
const failedTxid = '703166253dd709237fbae363a41ba025171ed440fd218ae92d482977b4055640'
const unknownTxid = 'ab'.repeat(32)
const depositAddress = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

const usdtEntry = {
  id: 2,
  uid: 7,
  wid: 2,
  osn: `${usdtTxid}:0`,
  type: 1,
  cuy: 2,
  amt: 25,
  balance: 25,
  mark: 'deposit',
  created_at: '2026-09-21T14:13:20.417Z',
} as const
const trxEntry = { ...usdtEntry, id: 1, wid: 1, osn: trxTxid, cuy: 1, amt: 3.5, balance: 3.5 } as const

/** Every route, by its path. */
export const operations = {
  '/tron/generate': operation({
    id: 'generateAddress',
    tag: 'Tron',
    summary: 'Your deposit address',
    description:
      'The current deposit address, the same one on every call; the first call creates it. Older addresses stay yours ' +
      'and stay watched. An address is shown only after the height from which deposits are looked for is stored.',
    isPublic: false,
    query: generateQuery,
    parameters: {
      fresh: {
        description: '`1` issues a further address and makes it the current one. At most 20 may be without a deposit.',
        example: '0',
      },
      format: {
        description:
          'How the address is written. `number` is the exact integer value of its 21 bytes, some 50 digits: most JSON ' +
          'parsers round it, and money sent to a rounded address is gone.',
        example: 'base58',
      },
    },
    answer: addressAnswer,
    examples: [
      {
        name: 'an address',
        given: 'a new caller',
        query: '',
        body: { code: 200, msg: 'success', data: { id: 1, address: depositAddress } },
      },
      {
        name: 'in hex',
        given: 'an address',
        query: '?format=hex',
        body: { code: 200, msg: 'success', data: { id: 1, address: '41e2e1a54926527fbb4e4420de4c6bab82beaee24d' } },
      },
      {
        name: 'a further address',
        given: 'an address',
        query: '?fresh=1',
        body: { code: 200, msg: 'success', data: { id: 2, address: 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C' } },
      },
    ],
    failures: [
      {
        status: 400,
        name: 'bad-input',
        cause: 'A parameter has a value that it does not take, is empty, or is given twice.',
        cure: 'The message names the parameter and what it takes. Unknown parameters are ignored.',
        given: 'a new caller',
        query: '?format=base64',
        msg: 'format: one of base58, number, hex',
      },
      {
        status: 409,
        name: 'gap-limit',
        cause: "20 of your addresses have had no deposit yet. A wallet's gap scan (BIP-44) would miss further ones.",
        cure: 'Use one of them: leave `fresh` out to get the newest.',
        given: 'twenty addresses without a deposit',
        query: '?fresh=1',
        msg: '20 addresses are still without a deposit: use one of them first',
      },
      chainUnavailable,
      ...callerFailures,
    ],
  }),

  '/tron/balance': operation({
    id: 'readBalance',
    tag: 'Tron',
    summary: 'What the chain says now',
    description:
      'The sum over all of your addresses in one currency, by the newest view of a node. It can include transfers that ' +
      'are not final, so it may differ from the wallet. Without an address it is 0.',
    isPublic: false,
    query: balanceQuery,
    parameters: {
      cuy: { description: 'The currency; 1 (TRX) where it is not given.', example: 2 },
      address: {
        description: 'One of your own addresses, in Base58Check: only what it holds.',
        example: depositAddress,
      },
    },
    answer: balanceAnswer,
    examples: [
      {
        name: 'TRX',
        given: 'two deposits, credited',
        query: '',
        body: { code: 200, msg: 'success', data: { amt: 3.5 } },
      },
      {
        name: 'USDT at one address',
        given: 'two deposits, credited',
        query: `?cuy=2&address=${depositAddress}`,
        body: { code: 200, msg: 'success', data: { amt: 25 } },
      },
    ],
    failures: [
      {
        status: 400,
        name: 'bad-input',
        cause: 'A parameter has a value that it does not take, is empty, or is given twice.',
        cure: 'The message names the parameter and what it takes.',
        given: 'a new caller',
        query: '?cuy=3',
        msg: 'cuy: one of 1 (TRX), 2 (USDT), given at most once',
      },
      {
        status: 404,
        name: 'unknown-address',
        cause: 'The address is not one of yours.',
        cure: 'Leave `address` out, or use one that `/tron/generate` gave you.',
        given: 'an address',
        query: '?address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
        msg: 'no such address',
      },
      { ...chainUnavailable, given: 'an address, and nodes that do not answer', query: '?cuy=2' },
      ...callerFailures,
    ],
  }),

  '/tron/recharge': operation({
    id: 'recharge',
    tag: 'Tron',
    summary: 'Look for deposits now',
    description:
      'Credits what is final and not credited yet, and says what it did. Idempotent: however often and by how many it is ' +
      'called, a deposit is credited once. Finding nothing is success. With `txid` it answers for that transaction alone, ' +
      'wherever the scan is.',
    isPublic: false,
    query: rechargeQuery,
    parameters: {
      txid: { description: 'One transaction: 64 hex digits, `0x` allowed in front.', example: usdtTxid },
    },
    answer: rechargeAnswer,
    examples: [
      {
        name: 'two deposits',
        given: 'two deposits, not scanned yet',
        query: '',
        body: { code: 200, msg: 'success: credited 3.5 TRX and 25 USDT' },
      },
      {
        name: 'nothing new',
        given: 'two deposits, credited',
        query: '',
        body: { code: 200, msg: 'success: nothing new' },
      },
      {
        name: 'not final yet',
        given: 'two deposits that are not final',
        query: '',
        body: { code: 200, msg: 'success: nothing new; 2 transfers seen, final in about 57 s' },
      },
      {
        name: 'one transaction',
        given: 'two deposits, not scanned yet',
        query: `?txid=${usdtTxid}`,
        body: { code: 200, msg: 'success: credited 25 USDT' },
      },
      {
        name: 'one transaction, again',
        given: 'two deposits, credited',
        query: `?txid=0x${usdtTxid}`,
        body: { code: 200, msg: 'success: credited before: 25 USDT' },
      },
    ],
    failures: [
      {
        status: 400,
        name: 'bad-input',
        cause: '`txid` is no transaction id, is empty, or is given twice.',
        cure: 'Give 64 hex digits, `0x` allowed in front.',
        given: 'a new caller',
        query: '?txid=25',
        msg: 'txid: 64 hex digits, 0x allowed in front',
      },
      {
        status: 404,
        name: 'unknown-transaction',
        cause: 'The nodes do not know the transaction: it is mistyped, on another network, or was never broadcast.',
        cure: 'Look it up in the wallet that sent it. If it was sent just now, ask again in a few seconds.',
        given: 'an address',
        query: `?txid=${unknownTxid}`,
        msg: 'no such transaction',
      },
      {
        status: 409,
        name: 'not-final',
        cause: 'The transaction is known, and its block is not final.',
        cure: 'Ask again after the seconds in `Retry-After`.',
        headers: { 'retry-after': '57' },
        given: 'two deposits that are not final',
        query: `?txid=${usdtTxid}`,
        msg: 'seen, final in about 57 s',
      },
      {
        status: 409,
        name: 'undecided',
        cause: "It can't be decided now: the nodes disagree, or no source for the transaction's own bytes answers.",
        cure: 'Ask again later. If the reason stays, it is one for the operator.',
        given: 'nodes that disagree',
        query: `?txid=${usdtTxid}`,
        msg: 'the nodes do not agree about this transaction yet',
      },
      {
        status: 422,
        name: 'worthless',
        cause:
          'The transaction is final and brings you nothing: it failed, is a TRC-10 or an unaccepted token, pays none of ' +
          'your addresses, or is below the minimum. The message says which.',
        cure: 'Nothing will change it. Compare the transaction with your address and the accepted currencies.',
        given: 'a transaction that failed',
        query: `?txid=${failedTxid}`,
        msg: 'the transaction failed, so nothing in it was paid',
      },
      { ...chainUnavailable, given: 'an address, and nodes that do not answer', query: `?txid=${usdtTxid}` },
      ...callerFailures,
    ],
  }),

  '/wallet/list': operation({
    id: 'listWallets',
    tag: 'Wallet',
    summary: 'Your balances',
    description: 'One wallet for each configured currency, ordered by `cuy`; 0 where there was no entry yet.',
    isPublic: false,
    query: noQuery,
    parameters: {},
    answer: walletListAnswer,
    examples: [
      {
        name: 'two wallets',
        given: 'two deposits, credited',
        query: '',
        body: {
          code: 200,
          msg: 'success',
          data: {
            list: [
              { amt: 3.5, cuy: 1 },
              { amt: 25, cuy: 2 },
            ],
            count: 2,
          },
        },
      },
    ],
    failures: callerFailures,
  }),

  '/wallet/flow/list': operation({
    id: 'listFlows',
    tag: 'Wallet',
    summary: 'Your ledger',
    description:
      'Your entries, newest first. Turn pages with `page`, or, for long histories, with `before`: then a page costs the ' +
      'same however deep it is. A page past the end is empty.',
    isPublic: false,
    query: flowListQuery,
    parameters: {
      page: { description: 'From 1, which is the default. Not together with `before`.', example: 1 },
      limit: {
        description: `Entries on a page, at most ${pageRowsMax}; ${pageRowsDefault} where it is not given.`,
        example: 20,
      },
      before: { description: 'Only entries with a smaller `id`: the last one of the page before.', example: 1000 },
      cuy: { description: 'Only this currency.', example: 2 },
      wid: { description: 'Only this wallet.', example: 2 },
      type: { description: 'Only this type; the answer explains the numbers.', example: '1' },
      osn: { description: 'A full `osn`, or a bare txid for all of its entries.', example: usdtTxid },
      from: { description: 'Only entries created at or after this instant.', example: '2026-11-01T00:00:00Z' },
      to: { description: 'Only entries created before this instant.', example: '2026-12-01T00:00:00Z' },
    },
    answer: flowListAnswer,
    examples: [
      {
        name: 'two entries',
        given: 'two deposits, credited',
        query: '',
        body: { code: 200, msg: 'success', data: { list: [usdtEntry, trxEntry], count: 2 } },
      },
      {
        name: 'the second page',
        given: 'two deposits, credited',
        query: '?page=2&limit=1',
        body: { code: 200, msg: 'success', data: { list: [trxEntry], count: 2 } },
      },
      {
        name: 'one transaction',
        given: 'two deposits, credited',
        query: `?osn=${usdtTxid}`,
        body: { code: 200, msg: 'success', data: { list: [usdtEntry], count: 1 } },
      },
    ],
    failures: [
      {
        status: 400,
        name: 'bad-input',
        cause:
          'A parameter has a value that it does not take, is empty, is given twice, or `page` stands beside `before`.',
        cure: 'The message names the parameter and what it takes.',
        given: 'a new caller',
        query: '?limit=1000',
        msg: 'limit: a whole number from 1 to 100',
      },
      ...callerFailures,
    ],
  }),

  '/health': operation({
    id: 'readHealth',
    tag: 'Service',
    summary: 'How the scan is',
    description: 'For a load balancer or a pager: from stored state, without a token and without asking a node.',
    isPublic: true,
    query: noQuery,
    parameters: {},
    answer: healthAnswer,
    examples: [
      {
        name: 'healthy',
        given: 'two deposits, credited',
        query: '',
        body: {
          code: 200,
          msg: 'success: 2 nodes agree',
          data: { status: 'ok', scanned: 70_000_019, finalized: 70_000_019, behind: 0 },
        },
      },
    ],
    failures: [
      ...serviceFailures,
      {
        status: 503,
        name: 'stopped',
        cause:
          'The scan has stopped, or has not advanced for 3 minutes. Nothing is credited meanwhile, and nothing is lost.',
        cure: 'For the operator: the message says why; the log says more.',
        given: 'no scan for four minutes',
        query: '',
        msg: 'the scan has not advanced for 240 s',
        data: { status: 'stopped', scanned: 70_000_019, finalized: 70_000_019, behind: 0 },
      },
    ],
  }),
} as const
