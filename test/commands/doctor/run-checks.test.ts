import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigurationSource } from '../../../src/commands/configuration.ts'
import { adviceFor } from '../../../src/commands/doctor/advice.ts'
import { serviceVersion } from '../../../src/worker/platform/version.ts'
import { tokenBase58 } from '../../devnet/control.ts'
import { payoutBase58 } from '../../support/payouts.ts'
import {
  type DoctorHarness,
  failures,
  openHarness,
  platformAt,
  resultsOf,
  secretsIn,
  sourceOf,
  urlSecret,
  type Values,
  valuesFor,
} from './harness.ts'

let harness: DoctorHarness

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness.close())

const addresses =
  'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6, TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C, TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'

describe('the doctor on a valid configuration', () => {
  it('prints every check, and warns about a single node', async () => {
    const host = new URL(harness.devnet.rpcUrl).host
    expect(await harness.check({})).toEqual([
      'ok    configuration: read from a test',
      'ok    configuration: every variable is valid',
      'ok    objects: SCANNER and ENDPOINT are bound, with their classes',
      `ok    key: account m/44'/195'/0', first addresses ${addresses}: compare them with the wallet`,
      'ok    authentication: HS256 with a secret of at least 32 bytes',
      'ok    node 1: answers the block `finalized`; the logs of a block by its hash, without a filter; getblockbylimitnext of the HTTP API',
      `ok    node 1: chain id 0x6465766e, and the hash of block 0 ends in the chain id`,
      expect.stringMatching(/^ok {4}node 1.*: final up to block 2, 2 blocks \(\d+ s\) behind the newest block$/),
      expect.stringMatching(/^ok {4}.*: the newest block is \d+ s behind the clock of this machine \(limit 30 s\)$/),
      `ok    node 1: HTTP API (${host}): the bytes of 3 transactions hash to their txids`,
      `ok    node 1: history: blocks with calls have their logs or receipts`,
      `ok    node 1: allows 100000 requests a second and 1000000000 a day (perSecond, perDay)`,
      'warn  quorum: one node alone decides what is credited; add two of other providers to TRON_NODES',
      'ok    migrations: the database has all, the newest is 1',
      'ok    stored data: none yet',
      'ok    addresses: issued up to index 0',
      `ok    token USDT (${tokenBase58}): decimals 6`,
      `ok    token USDT (${tokenBase58}): symbol USDT`,
    ])
  })

  it('compares the fee limit of payouts with what a transfer takes now', async () => {
    await harness.devnet.pay({ to: payoutBase58, amount: '1', currency: 'USDT' })
    await harness.devnet.mine(3)
    const about = async (feeLimit: number) => {
      const lines = await harness.check({ PAYOUTS: { address: payoutBase58, feeLimit } })
      return lines.filter((line) => line.includes('feeLimit'))
    }
    const name = `payouts from ${payoutBase58}: a transfer of USDT (2) takes 4.0986 TRX now (40986 energy at 100 sun)`
    expect(await about(5)).toEqual([`ok    ${name}, within feeLimit of 5 TRX`])
    expect(await about(4)).toEqual([
      `warn  ${name}, and feeLimit is 4 TRX: such payouts fail, and burn it. Raise feeLimit of PAYOUTS`,
    ])
  })

  it('warns about two nodes, which must both answer, and about nothing with a third one that agrees', async () => {
    const [first] = valuesFor(harness.devnet).TRON_NODES as unknown[] // safe: arrays
    const [second] = (await harness.alteredNode(() => undefined)).TRON_NODES as unknown[]
    const [third] = (await harness.alteredNode(() => undefined)).TRON_NODES as unknown[]
    const two = await harness.check({ TRON_NODES: [first, second] })
    expect(two.filter((line) => !line.startsWith('ok'))).toEqual([
      'warn  quorum: 2 of 2 nodes must agree, 2 are usable: while one is away nothing is credited; with one more in TRON_NODES any one can be away',
    ])
    const three = await harness.check({ TRON_NODES: [first, second, third] })
    expect(three.filter((line) => !line.startsWith('ok'))).toEqual([])
    expect(three).toContain('ok    quorum: 2 of 3 nodes must agree, 3 are usable')
  })

  it.each([
    ['by many blocks', 25, 75, 'behind: its newest block \\d+ is 25 blocks \\(75 s\\) behind that of node 1', '0x1e'],
    ['by minutes', 5, 150, 'behind: its newest block \\d+ is 5 blocks \\(150 s\\) behind that of node 1', '0x3'],
    ['because it is cut off', 25, 75, 'has no peers: the newest block is 75 s behind the clock', '0x0'],
  ])('names a node that is behind, %s, and does not count it as usable', async (_, blocks, seconds, says, peers) => {
    const hex = (n: number) => n.toString(16)
    // a hash begins with the height
    const hashAt = (height: number, hash: string) => `0x${hex(height).padStart(16, '0')}${hash.slice(18)}`
    const goesOn = await harness.alteredNode(({ params }, result) => {
      if (params[0] !== 'latest') return
      // safe: a block of the local chain
      const block = result as Record<'hash' | 'parentHash' | 'number' | 'timestamp', string>
      const height = Number(block.number) + blocks
      const timestamp = `0x${hex(Number(block.timestamp) + seconds)}`
      const [hash, parentHash] = [hashAt(height, block.hash), hashAt(height - 1, block.parentHash)]
      return { result: { ...block, hash, parentHash, number: `0x${hex(height)}`, timestamp } }
    })
    const late = await harness.alteredNode(({ method }) => (method === 'net_peerCount' ? { result: peers } : undefined))
    const nodes = [...(goesOn.TRON_NODES as unknown[]), ...(late.TRON_NODES as unknown[])] // safe: arrays
    const lines = await harness.check({ TRON_NODES: nodes }, {}, seconds * 1000)
    expect(failures(lines)).toEqual([
      expect.stringMatching(new RegExp(`^FAIL {2}node 2.*: ${says}`)),
      'FAIL  quorum: 1 of 2 nodes are usable, 2 needed: nothing would be credited',
    ])
    const source = sourceOf({ ...valuesFor(harness.devnet), TRON_NODES: nodes })
    const results = await resultsOf(source, await platformAt(harness.devnet, seconds * 1000))
    const [first] = results.filter(({ level }) => level === 'FAIL')
    expect(first?.advice).toMatch(says.startsWith('behind') ? /synchronized/ : /port for peers/)
  })

  it('warns about a node that allows too few requests for the scan', async () => {
    const [node] = valuesFor(harness.devnet).TRON_NODES as object[] // safe: an array
    const lines = await harness.check({
      TRON_NODES: [{ ...node, perSecond: 15, perDay: 10_000 }],
      SCAN_EVERY_SECONDS: '10',
    })
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^warn {2}node 1.*: allows 15 requests a second and 10000 a day \(perDay\), and scanning takes/,
      ),
    )
  })

  it('fails a deployment or this machine without the bindings of the objects', async () => {
    const lines = await harness.check({}, { objectFaults: ['no [[migrations]] with Endpoint in new_sqlite_classes'] })
    expect(failures(lines)).toEqual([
      'FAIL  objects: wrangler.toml has no [[migrations]] with Endpoint in new_sqlite_classes',
    ])
  })

  it('distinguishes the key of an external chain from that of an account', async () => {
    const xpub =
      'xpub6EuK4CZWW5urEHdwAVDdDw327danAtccFcrXYvgf1DHrPXRwErt36xStQ2PNhn4hpwzPbzJ8pJVpewgChRnSs59q5Ay61GCfQZKUe71gbLq'
    expect(await harness.check({ TRON_XPUB: xpub })).toContainEqual(
      expect.stringContaining(
        "ok    key: external chain m/44'/195'/n'/0, first addresses TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
      ),
    )
  })

  it('shows the number of the account', async () => {
    const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)
    const xpub = HDKey.fromMasterSeed(seed).derive("m/44'/195'/1'").publicExtendedKey
    const lines = await harness.check({ TRON_XPUB: xpub })
    expect(lines).toContainEqual(expect.stringContaining("ok    key: account m/44'/195'/1', first addresses "))
  })
})

describe('the doctor on a configuration with faults', () => {
  it.each<[string, Values, RegExp[]]>([
    ['a short secret', { AUTH_JWT_SECRET: 'too-short-4f' }, [/^FAIL {2}AUTH_JWT_SECRET: /]],
    ['a missing variable', { TRON_XPUB: undefined }, [/^FAIL {2}TRON_XPUB: .* \(it is not set\)$/]],
    ['an API key that is not set', { NODE_KEY: '' }, [/^FAIL {2}TRON_NODES\.0\.keyVar: /]],
    [
      'several faults',
      { TRON_XPUB: '', AUTH_JWT_SECRET: 'x', DEV_UID: '0' },
      [/^FAIL {2}TRON_XPUB: .* \(it is not set\)$/, /^FAIL {2}AUTH_JWT_SECRET: /, /^FAIL {2}DEV_UID: /],
    ],
  ])('reports %s', async (_, changes, expected) => {
    expect(failures(await harness.check(changes))).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
  })

  it('refuses a private key without printing it', async () => {
    const xprv =
      'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi'
    const lines = await harness.check({ TRON_XPUB: xprv })
    expect(failures(lines)).toEqual([expect.stringMatching(/^FAIL {2}TRON_XPUB: /)])
    expect(lines.join('\n')).not.toContain(xprv)
  })

  it('checks nodes and tokens where only a secret is missing', async () => {
    const lines = await harness.check({ TRON_XPUB: undefined })
    expect(lines).toContainEqual(expect.stringMatching(/^ok {4}node 1: /))
    expect(lines).toContainEqual(expect.stringMatching(/^ok {4}token USDT /))
    expect(lines).toContainEqual(expect.stringMatching(/^ok {4}authentication: /))
  })

  it('skips nodes and tokens where the nodes are not valid', async () => {
    expect(await harness.check({ TRON_NODES: 'none' })).toContain(
      'warn  nodes and tokens: skipped until the configuration is valid',
    )
  })

  it('refuses the key of a public test mnemonic on mainnet', async () => {
    expect(failures(await harness.check({ TRON_CHAIN_ID: '0x2b6653dc' }))).toContain(
      'FAIL  key: this is a public test mnemonic: anyone can spend from it',
    )
  })

  it.each<[string, ConfigurationSource['database'], string]>([
    [
      'a placeholder',
      'placeholder',
      'database: database_id is a placeholder; `npx wrangler d1 create` prints the real one',
    ],
    ['no database', 'missing', 'database: wrangler.toml has no D1 database with the binding DB'],
  ])('fails a deployment with %s', async (_, database, expected) => {
    expect(failures(await harness.check({}, { isDeployment: true, database }))).toEqual([`FAIL  ${expected}`])
  })
})

describe('the doctor on authentication', () => {
  const keys = {
    keys: [
      { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'a' },
      { kty: 'EC', crv: 'P-521', x: 'AA', y: 'AA', kid: 'b' },
    ],
  }
  const withKeys = async (body: unknown, status = 200): Promise<Values> => ({
    AUTH_JWT_SECRET: undefined,
    AUTH_JWKS_URL: `${await harness.serverUrl(async () => ({ status, body: JSON.stringify(body) }))}/${urlSecret}`,
    AUTH_AUDIENCE: 'wallet',
  })

  it('fetches the key set and counts its usable keys', async () => {
    expect(await harness.check(await withKeys(keys))).toContainEqual(
      expect.stringMatching(
        /^ok {4}authentication: the key set at 127\.0\.0\.1:\d+: 1 of 2 keys are usable \(EdDSA\)$/,
      ),
    )
  })

  it.each<[string, () => Promise<Values>, RegExp]>([
    ['a missing key set', () => withKeys({}, 404), /^FAIL .*: the key set at .* could not be fetched: .*404$/],
    ['an empty key set', () => withKeys({ keys: [] }), /^FAIL .*: 0 of 0 keys are usable: the service supports RS256/],
    [
      'a private key in the key set',
      () => withKeys({ keys: [{ ...keys.keys[0], d: 'AA' }] }),
      /^FAIL .* publishes a private key$/,
    ],
    [
      'no audience',
      async () => ({ ...(await withKeys(keys)), AUTH_AUDIENCE: undefined }),
      /^warn .*: without AUTH_AUDIENCE, tokens for other services of the issuer are valid too$/,
    ],
    ['no key', async () => ({ AUTH_JWT_SECRET: undefined }), /^FAIL .* is set: every route answers 503$/],
    [
      'DEV_UID in place of a key',
      async () => ({ AUTH_JWT_SECRET: undefined, DEV_UID: '7' }),
      /^warn .* is set: only this machine has access$/,
    ],
    ['DEV_UID', async () => ({ DEV_UID: '7' }), /^warn .* without a token act for user 7 \(DEV_UID\)$/],
    ['a secret of one letter', async () => ({ AUTH_JWT_SECRET: 'x'.repeat(40) }), /^warn .* looks like a placeholder$/],
  ])('warns or fails at %s', async (_, changes, expected) => {
    expect(await harness.check(await changes())).toContainEqual(expect.stringMatching(expected))
  })
})

describe('the doctor on the authentication of backends', () => {
  it('checks their secret and their key set as those of callers', async () => {
    const url = await harness.serverUrl(async () => ({ status: 404, body: '{}' }))
    const lines = await harness.check({ BACKEND_JWT_SECRET: 'y'.repeat(40), BACKEND_JWKS_URL: `${url}/${urlSecret}` })
    expect(lines.filter((line) => line.includes('backends'))).toEqual([
      expect.stringMatching(/^warn {2}backends: HS256 with a secret .* a placeholder$/),
      expect.stringMatching(/^FAIL {2}backends: the key set at .* could not be fetched: .*404$/),
    ])
  })

  it('reports nothing without keys for them', async () => {
    expect((await harness.check({})).filter((line) => line.includes('backends'))).toEqual([])
  })
})

describe('the doctor on the desk', () => {
  const people = { 'ann@example.com': 'read approve', '*@example.com': 'read' }
  const access = { DESK_ACCESS: { team: 'nobody', audience: 'x', people } }

  it('fetches the keys of the team that signs people in', async () => {
    const asked: string[] = []
    const { publicKey } = await generateKeyPair('RS256', { extractable: true })
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256' }] }
    const team = async (url: string) => {
      asked.push(url)
      return Response.json(keys)
    }
    expect(await harness.check(access, {}, 0, team)).toContain(
      'ok    desk: the key set at nobody.cloudflareaccess.com: 1 of 1 keys are usable (RS256), for 2 entries of people',
    )
    expect(asked).toEqual(['https://nobody.cloudflareaccess.com/cdn-cgi/access/certs'])
  })

  it('fails where it cannot, with what to correct', async () => {
    const team = async () => new Response(null, { status: 404 })
    const line =
      'FAIL  desk: the key set at nobody.cloudflareaccess.com could not be fetched: status 404, for 2 entries of people'
    expect(await harness.check(access, {}, 0, team)).toContain(line)
    expect(adviceFor(line.slice(6))).toContain('correct team in DESK_ACCESS')
  })
})

it('prints no secret, no API key and no path of a URL', () => {
  expect(harness.printed.length).toBeGreaterThan(50)
  expect(secretsIn(harness.printed.join('\n'))).toEqual([])
})

it('the advice about a node names the clock of this machine, which can be wrong in its place', () => {
  const failure = 'node 1: the newest block is 50 s ahead of the clock of this machine (limit 30 s): the clock is slow'
  expect(adviceFor(failure)).toContain('the clock of this machine')
})

it('says how the database can be read where it was not, and not that something differs', () => {
  const failure = 'stored data: not compared with the configuration: wrangler may not use the account; log in'
  expect(adviceFor(failure)).toBe('do what the end of that line says, and run the doctor again')
  expect(adviceFor('stored data: the chain differs')).toContain('set back what differs')
})

describe('the doctor on the deployed version', () => {
  const health = (version: string) =>
    JSON.stringify({ code: 200, msg: 'success', data: { status: 'ok', version, migration: 1 } })
  const serving = async (status: number, body: string) => {
    const url = await harness.serverUrl(async () => ({ status, body }))
    const { host } = new URL(url)
    const lines = await harness.check({}, {}, 0, undefined, [url])
    return lines.filter((line) => line.includes('version: ')).map((line) => line.replaceAll(host, 'HOST'))
  }
  const own = `version: this folder has ${serviceVersion}; which one runs is not known: HOST`

  it.each([
    [200, health(serviceVersion), `ok    version: HOST runs ${serviceVersion}, as this folder`],
    [200, health('0.9.0'), `warn  version: HOST runs 0.9.0, and this folder has ${serviceVersion}`],
    [200, '<title>Welcome</title>', `warn  ${own} does not answer as this service (status 200)`],
    [302, '', `warn  ${own} redirects, as a page does where people must sign in`],
    [503, '{"code":503,"msg":"wrong"}', `warn  ${own} answers 503: wrong`],
  ])('with an answer %i %s', async (status, body, line) => {
    expect(await serving(status, body)).toEqual([line])
  })
})
