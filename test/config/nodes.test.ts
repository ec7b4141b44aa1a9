import { describe, expect, it } from 'vitest'
import { configOf, faultsOf } from './parsed.ts'

const one = { rpc: 'https://one.example/jsonrpc', api: 'https://one.example' }
/**
 * The node `one` with `{key}` in both of its URLs. The configuration replaces `{key}` by the node's
 * secret key.
 */
const keyed = { rpc: 'https://one.example/{key}/jsonrpc?apikey={key}', api: 'https://one.example/{key}/' }
/** A secret whose special characters must be escaped in a URL. */
const key = 'k/9+=&#?% $&'
const keyInUrl = 'k%2F9%2B%3D%26%23%3F%25%20%24%26'

const bindings = (entry: object, secret: unknown = key) => ({ TRON_NODES: [entry], GRID_KEY: secret })
/** The parsed node of `entry`, where `secret` is the value of GRID_KEY. */
const nodeOf = (entry: object, secret: unknown = key) => configOf(bindings(entry, secret)).nodes[0]
const faults = (entry: object, secret: unknown = key) => faultsOf(bindings(entry, secret))
const withKey = { ...one, keyVar: 'GRID_KEY' }

describe('a node', () => {
  it('has the limits of a free TronGrid key by default, or those that are set', () => {
    const [first, second] = configOf({
      TRON_NODES: [one, { rpc: 'https://two.example', api: 'https://two.example//', perSecond: '3', perDay: 500 }],
    }).nodes
    expect(first).toEqual({
      id: 'b66763dfe8d0eaec',
      name: null,
      host: 'one.example',
      rpc: { url: one.rpc, keyHeader: null },
      api: { url: one.api, keyHeader: null },
      perSecond: 15,
      perDay: 100_000,
    })
    expect(second).toMatchObject({ api: { url: 'https://two.example' }, perSecond: 3, perDay: 500 })
  })
})

describe('the name of a node', () => {
  it.each(['QuickNode', 'our own, in Frankfurt', 'Node (2)', '节点一', '💎', 'x'.repeat(40)])('can be %s', (name) => {
    expect(nodeOf({ ...one, name })).toMatchObject({ name })
  })

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(41)],
    ['no text', 7],
    ['a space at its start', ' a'],
    ['a space at its end', 'a '],
    ['a control character', 'a\u001b[2J'],
    ['a line break', 'a\nb'],
    ['a character that turns the direction of text', 'a\u202eb'],
    ['an invisible space', 'a\u200bb'],
    ['an invisible letter', 'a\u3164b'],
    ['another space', 'a\u00a0b'],
    ['half of a character', '\ud83d'],
  ])('is refused: %s', (_, name) => {
    const takes = 'a name of 1 to 40 printable characters, without a space at its ends'
    expect(faults({ ...one, name })).toEqual([`TRON_NODES.0.name: ${takes}`])
  })

  it('is that of one node alone', () => {
    const two = { rpc: 'https://two.example', api: 'https://two.example', name: 'A' }
    expect(faultsOf({ TRON_NODES: [{ ...one, name: 'A' }, two] })).toEqual([
      'TRON_NODES: duplicate name: two nodes have the same one',
    ])
    expect(configOf({ TRON_NODES: [{ ...one, name: 'a' }, two] }).nodes).toHaveLength(2)
  })
})

describe('the key of a node', () => {
  const services = (entry: object) => {
    const { rpc, api } = { rpc: null, api: null, ...nodeOf(entry) }
    return [rpc, api]
  }
  const sent = (url: string, name: string) => ({ url, keyHeader: { name, value: key } })
  const bare = (url: string) => ({ url, keyHeader: null })

  it('is sent in TRON-PRO-API-KEY, or in the header that keyHeader names', () => {
    for (const [keyHeader, name] of [
      [undefined, 'TRON-PRO-API-KEY'],
      ['X-Api-Key', 'X-Api-Key'],
      ['authorization', 'authorization'],
    ] as const) {
      const header = keyHeader === undefined ? {} : { keyHeader }
      expect(services({ ...withKey, ...header })).toEqual([sent(one.rpc, name), sent(one.api, name)])
    }
  })

  it('is put where a URL has {key}, percent-encoded, and then in no header', () => {
    expect(services({ ...keyed, keyVar: 'GRID_KEY' })).toEqual([
      bare(`https://one.example/${keyInUrl}/jsonrpc?apikey=${keyInUrl}`),
      bare(`https://one.example/${keyInUrl}`),
    ])
  })

  it('is sent to a URL without {key} beside one with it only in a header that is named', () => {
    const half = { ...withKey, rpc: keyed.rpc, api: 'https://other.example' }
    const url = `https://one.example/${keyInUrl}/jsonrpc?apikey=${keyInUrl}`
    expect(services(half)).toEqual([bare(url), bare('https://other.example')])
    expect(services({ ...half, keyHeader: 'x-token' })).toEqual([bare(url), sent('https://other.example', 'x-token')])
  })

  it('is not in the id of the node, which another key leaves as it is', () => {
    const entry = { ...keyed, keyVar: 'GRID_KEY' }
    const ids = [key, 'another'].map((secret) => nodeOf(entry, secret)?.id)
    expect(ids).toEqual(['d10df22e30b4ca67', 'd10df22e30b4ca67'])
    expect(nodeOf(withKey)?.id).toBe(nodeOf(one)?.id)
  })

  it('is in no fault', () => {
    const secret = `${key}\n`
    const two = { ...keyed, keyVar: 'GRID_KEY', keyHeader: 'host' }
    const all = [...faults(two, secret), ...faults({ ...keyed, keyVar: 'GRID_KEY' }, secret)]
    expect(all).toHaveLength(2)
    expect(all.filter((fault) => fault.includes('k/9') || fault.includes(keyInUrl))).toEqual([])
  })

  it.each([
    ['null', null],
    ['empty', ''],
    ['no text', { a: 1 }],
  ])('must be set: it is %s', (_, secret) => {
    const fault = 'TRON_NODES.0.keyVar: the name of a variable or secret that is set'
    expect(faults(withKey, secret)).toEqual([fault])
    expect(faults({ ...keyed, keyVar: 'GRID_KEY' }, secret)).toEqual([fault])
    expect(faultsOf({ TRON_NODES: [withKey] })).toEqual([fault])
  })

  it.each(['a\nb', 'a\r\nhost: b', ' a', 'a ', 'ä', '\ud83d', 'a'.repeat(4097)])(
    'must be one that a header can carry: %j',
    (secret) => {
      const [fault, ...others] = faults(withKey, secret)
      expect(fault).toMatch(/^TRON_NODES\.0\.keyVar: the name of a secret of 1 to 4096 printable ASCII characters, /)
      expect(others).toEqual([])
    },
  )
})

describe('keyHeader', () => {
  const named = (keyHeader: unknown) => faults({ ...withKey, keyHeader })
  const refused = [
    'TRON_NODES.0.keyHeader: the name of a header that can carry a key, such as x-api-key or authorization',
  ]

  it.each(['', 'x key', 'x:key', 'schlüssel', 'x\r\ny', '(x)', 'x'.repeat(101), 7])(
    'is the name of a header: %j',
    (name) => {
      expect(named(name)).toEqual(refused)
    },
  )

  it.each([
    ...['host', 'Host', 'content-type', 'Content-Type', 'content-length', 'content-encoding', 'accept', 'connection'],
    ...['transfer-encoding', 'te', 'trailer', 'upgrade', 'keep-alive', 'expect', 'accept-encoding', 'cookie', 'origin'],
    ...['sec-fetch-mode', 'proxy-authorization', 'via', 'date'],
  ])('is none with which requests break: %s', (name) => {
    expect(named(name)).toEqual(refused)
  })

  it.each(['authorization', 'Authorization', 'x-api-key', 'api-key', 'x-token', 'TRON-PRO-API-KEY', 'apikey', 'x_key'])(
    'can be %s',
    (name) => {
      expect(named(name)).toEqual([])
    },
  )
})

describe('a key that has no way, or a way without a key', () => {
  it.each<[string, object, string]>([
    ['{key} without keyVar', keyed, 'keyVar: set, since a URL has {key}'],
    ['{key} in api alone, without keyVar', { ...one, api: keyed.api }, 'keyVar: set, since a URL has {key}'],
    ['keyHeader without keyVar', { ...one, keyHeader: 'x-token' }, 'keyVar: set, since keyHeader is'],
    [
      'keyHeader beside two URLs with {key}',
      { ...keyed, keyVar: 'GRID_KEY', keyHeader: 'x-token' },
      'keyHeader: not set, since both URLs have {key}: nothing would be sent in it',
    ],
  ])('is refused: %s', (_, entry, fault) => {
    expect(faults(entry)).toEqual([`TRON_NODES.0.${fault}`])
  })

  const takes = 'a URL with {key} in its path or query, if at all, and no other braces'
  it.each([
    ['in the name of the host', 'https://{key}.one.example/jsonrpc'],
    ['in the name of the host, written in another way', 'https://%7Bkey%7D.one.example/jsonrpc'],
    ['after the #, which is not sent', 'https://one.example/jsonrpc#{key}'],
    ['of another name', 'https://one.example/{KEY}/jsonrpc'],
    ['with spaces', 'https://one.example/{ key }/jsonrpc'],
    ['that is not closed', 'https://one.example/{key/jsonrpc'],
  ])('is refused: a place in a URL %s', (_, rpc) => {
    expect(faults({ ...withKey, rpc })).toEqual([`TRON_NODES.0.rpc: ${takes}`])
  })

  it.each(['https://{key}@one.example', 'https://u:{key}@one.example'])('is refused: a user in %s', (api) => {
    expect(faults({ ...withKey, api })).toEqual([
      'TRON_NODES.0.api: an https URL without user and password (http only for a loopback host)',
    ])
  })

  it('is refused: {key} in a query of api, which is a base URL', () => {
    expect(faults({ ...withKey, api: 'https://one.example/?k={key}' })).toEqual([
      'TRON_NODES.0.api: a base URL without a query',
    ])
  })
})

describe('two nodes', () => {
  it.each([
    ['another path', 'https://one.example/a/jsonrpc', 'https://one.example/b/jsonrpc'],
    ['another case', 'https://one.example/jsonrpc', 'https://ONE.example/jsonrpc'],
    ['the default port', 'https://one.example/jsonrpc', 'https://one.example:443/jsonrpc'],
    ['a trailing dot', 'https://one.example:8545', 'https://one.example.:8545'],
    ['another scheme', 'http://127.0.0.1:443', 'https://127.0.0.1'],
    ['another spelling of an IP address', 'http://127.0.0.1:1', 'http://127.1:1'],
  ])('of one host by rpc, by api or by both are one: with %s', (_, first, second) => {
    const [a, b] = ['https://a.example', 'https://b.example']
    for (const TRON_NODES of [
      [
        { rpc: first, api: a },
        { rpc: second, api: b },
      ],
      [
        { rpc: a, api: first },
        { rpc: b, api: second },
      ],
      [
        { rpc: a, api: first },
        { rpc: second, api: b },
      ],
      [
        { rpc: first, api: first },
        { rpc: second, api: second },
      ],
    ]) {
      const fault = 'TRON_NODES: duplicate node: two nodes with one host, by rpc or by api, are one node'
      expect(faultsOf({ TRON_NODES })).toEqual([fault])
    }
  })

  it('can be at two ports of a host, and each may have one host for both of its services', () => {
    const nodes = [1, 2].map((port) => ({ rpc: `http://127.0.0.1:${port}`, api: `http://127.0.0.1:${port}` }))
    expect(configOf({ TRON_NODES: nodes }).nodes).toHaveLength(2)
  })

  it('are one where their URLs differ by the key alone', () => {
    const [a, b] = [keyed, { ...keyed, rpc: 'https://one.example/b/{key}' }]
    const TRON_NODES = [a, b].map((urls, i) => ({ ...urls, keyVar: `KEY_${i}` }))
    expect(faultsOf({ TRON_NODES, KEY_0: 'a', KEY_1: 'b' })).toEqual([
      'TRON_NODES: duplicate node: two nodes with one host, by rpc or by api, are one node',
    ])
  })
})
