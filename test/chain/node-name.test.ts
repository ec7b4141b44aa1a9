import { expect, it } from 'vitest'
import { nodeName } from '../../src/worker/chain/node-name.ts'

it.each<[string, string | null, string, string]>([
  ['by its name', 'Our own', 'api.trongrid.io', 'Our own'],
  [
    'without a name, by its number and the last two labels of its host',
    null,
    'api.trongrid.io',
    'node 2 (trongrid.io)',
  ],
  [
    'without those that belong to an account',
    null,
    'some-words-123.tron-mainnet.quiknode.pro',
    'node 2 (quiknode.pro)',
  ],
  ['whose host is written with a dot at its end', null, 'api.trongrid.io.', 'node 2 (trongrid.io)'],
  ['whose host has one label', null, 'localhost', 'node 2 (localhost)'],
  ['by its number alone if its host is an IPv4 address', null, '203.0.113.7', 'node 2'],
  ['by its number alone if its host is an IPv6 address', null, '[2001:db8::7]', 'node 2'],
])('a node is called %s', (_, name, host, expected) => {
  expect(nodeName(2, { name, host })).toBe(expected)
})
