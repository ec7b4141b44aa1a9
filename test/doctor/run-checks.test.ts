import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenBase58 } from '../devnet/control.ts'
import { type Clinic, failed, openClinic, type Values } from './harness.ts'
import { secretsIn, urlSecret, valuesFor } from './support.ts'

let clinic: Clinic

beforeAll(async () => {
  clinic = await openClinic()
})
afterAll(() => clinic.close())

const addresses =
  'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6, TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C, TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'

describe('the doctor on a chain where all is well', () => {
  it('says so line by line, with one node trusted alone', async () => {
    const host = new URL(clinic.devnet.rpcUrl).host
    expect(await clinic.examined({})).toEqual([
      'ok    read: a test',
      'ok    configuration: every variable has a value that the service takes',
      `ok    key: the account m/44'/195'/0'; its first addresses are ${addresses}: compare them with your wallet`,
      'ok    authentication: HS256, a secret of at least 32 bytes',
      `ok    node 1 (${host}): chain id 0x6465766e`,
      `ok    node 1 (${host}): answers in N ms`,
      `ok    node 1 (${host}): block 0 ends in the chain id`,
      `ok    node 1 (${host}): java-tron 4.8.2`,
      expect.stringMatching(/^ok {4}node 1 .*: final up to block 2, 2 blocks \(\d+ s\) behind the newest$/),
      expect.stringMatching(/^ok {4}node 1 .*: its newest block is \d+ s behind this machine’s clock \(limit 30 s\)$/),
      `ok    node 1 (${host}): a read of the scan: 2 blocks, 3 transactions, 2 logs in N ms`,
      `ok    node 1 (${host}): takes batches of 20 calls`,
      `ok    node 1 (${host}): has eth_getBlockReceipts`,
      `ok    node 1 (${host}): its HTTP API (${host}) gives a transaction’s bytes, which hash to its id`,
      'warn  quorum: one node, trusted alone: name a second in TRON_NODES',
      `ok    token USDT (${tokenBase58}): decimals 6 (says node 1)`,
      `ok    token USDT (${tokenBase58}): symbol USDT (says node 1)`,
    ])
  })

  it('has nothing to warn of with a second node that agrees', async () => {
    const second = await clinic.changedNode(() => undefined)
    const nodes = [...(valuesFor(clinic.devnet).TRON_NODES as unknown[]), ...(second.TRON_NODES as unknown[])] // arrays, see there
    const lines = await clinic.examined({ TRON_NODES: nodes })
    expect(lines.filter((line) => !line.startsWith('ok'))).toEqual([])
    expect(lines).toContain('ok    quorum: 2 of 2 nodes must agree, 2 can be used')
    expect(lines).toContain('ok    agreement: all 2 usable nodes name the same final block 2')
    expect(lines).toContain(`ok    token USDT (${tokenBase58}): decimals 6 (says node 1, 2)`)
  })

  it('says that the key is that of the external chain where it is', async () => {
    const xpub =
      'xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq'
    expect(await clinic.examined({ TRON_XPUB: xpub })).toContainEqual(
      expect.stringContaining(
        "ok    key: the external chain m/44'/195'/0'/0; its first addresses are TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
      ),
    )
  })
})

describe('the doctor on a configuration that is wrong', () => {
  const xprv =
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi'
  const takes = "an extended public key (xpub…) of m/44'/195'/0' or m/44'/195'/0'/0"

  it.each<[string, Values, string[]]>([
    ['a private key', { TRON_XPUB: xprv }, [`FAIL  TRON_XPUB: ${takes}; private key material is never accepted`]],
    ['a short secret', { AUTH_JWT_SECRET: 'too-short-4f' }, ['FAIL  AUTH_JWT_SECRET: a text of at least 32 bytes']],
    ['a missing variable', { TRON_XPUB: undefined }, [`FAIL  TRON_XPUB: ${takes} (it is not set)`]],
    [
      'a key variable without a value',
      { NODE_KEY: '' },
      ['FAIL  TRON_NODES.0.keyVar: the name of a variable or secret that is set'],
    ],
    [
      'several at once',
      { TRON_XPUB: '', AUTH_JWT_SECRET: 'x', DEV_UID: '0' },
      [
        `FAIL  TRON_XPUB: ${takes} (it is not set)`,
        'FAIL  AUTH_JWT_SECRET: a text of at least 32 bytes',
        'FAIL  DEV_UID: a whole number from 1 to 9007199254740991',
      ],
    ],
  ])('names %s', async (_, changes, expected) => {
    expect(failed(await clinic.examined(changes))).toEqual(expected)
  })

  it('goes on with nodes and tokens where only a secret is missing', async () => {
    const lines = await clinic.examined({ TRON_XPUB: undefined })
    expect(lines).toContainEqual(expect.stringMatching(/^ok {4}node 1 .*: java-tron 4\.8\.2$/))
    expect(lines).toContain(`ok    token USDT (${tokenBase58}): symbol USDT (says node 1)`)
    expect(lines).toContain('ok    authentication: HS256, a secret of at least 32 bytes')
  })

  it('says what it can’t check where the nodes are not named rightly', async () => {
    expect(await clinic.examined({ TRON_NODES: 'none' })).toContain(
      'warn  nodes and tokens are checked once the configuration names them rightly',
    )
  })

  it('refuses the key of a mnemonic that everybody knows on mainnet', async () => {
    expect(failed(await clinic.examined({ TRON_CHAIN_ID: '0x2b6653dc' }))).toContain(
      'FAIL  key: everybody knows the mnemonic of this key, and can take what is sent to its addresses',
    )
  })

  it.each<[string, string | null, string]>([
    [
      'a placeholder',
      '00000000-0000-0000-0000-000000000000',
      'database: its database_id is a placeholder; `npx wrangler d1 create` gives the real one',
    ],
    ['no database at all', null, 'database: wrangler.toml has no D1 database with the binding DB'],
  ])('finds %s in a deployment', async (_, databaseId, expected) => {
    const lines = await clinic.examined({}, { target: { kind: 'deployment', env: 'nile' }, databaseId })
    expect(failed(lines)).toEqual([`FAIL  ${expected}`])
  })
})

describe('the doctor on how callers are known', () => {
  const keys = {
    keys: [
      { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'a' },
      { kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA', kid: 'b' },
    ],
  }
  const withKeys = async (body: unknown, status = 200): Promise<Values> => ({
    AUTH_JWT_SECRET: undefined,
    AUTH_JWKS_URL: `${await clinic.served(async () => ({ status, body: JSON.stringify(body) }))}/${urlSecret}`,
    AUTH_AUDIENCE: 'wallet',
  })

  it('fetches the key set and counts its usable keys', async () => {
    const lines = await clinic.examined(await withKeys(keys))
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^ok {4}authentication: the key set at 127\.0\.0\.1:\d+: 1 of its 2 keys can be used \(EdDSA\)$/,
      ),
    )
  })

  it.each<[string, () => Promise<Values>, RegExp]>([
    ['a key set that is not there', () => withKeys({}, 404), /^FAIL .*: status 404$/],
    ['an empty key set', () => withKeys({ keys: [] }), /^FAIL .*: 0 of its 0 keys can be used/],
    [
      'a private key in it',
      () => withKeys({ keys: [{ ...keys.keys[0], d: 'AA' }] }),
      /^FAIL .* shows a private key to everybody$/,
    ],
    [
      'no audience',
      async () => ({ ...(await withKeys(keys)), AUTH_AUDIENCE: undefined }),
      /^warn .*AUTH_AUDIENCE is not set/,
    ],
    ['no key at all', async () => ({ AUTH_JWT_SECRET: undefined }), /^FAIL .* every route answers 503$/],
    ['DEV_UID alone', async () => ({ AUTH_JWT_SECRET: undefined, DEV_UID: '7' }), /^warn .* by DEV_UID$/],
    ['DEV_UID', async () => ({ DEV_UID: '7' }), /^warn {2}DEV_UID is set: .* act for user 7$/],
    ['a secret of one letter', async () => ({ AUTH_JWT_SECRET: 'x'.repeat(40) }), /^warn .* looks like a placeholder$/],
  ])('warns or fails at %s', async (_, changes, expected) => {
    expect(await clinic.examined(await changes())).toContainEqual(expect.stringMatching(expected))
  })
})

it('no line of all these shows a secret, a key or the path of a URL', () => {
  expect(clinic.seen.length).toBeGreaterThan(100)
  expect(secretsIn(clinic.seen.join('\n'))).toEqual([])
})
