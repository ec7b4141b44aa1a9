import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { CompactSign, decodeJwt, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { TronWeb } from 'tronweb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createJournal } from '../../../src/commands/payout/journal.ts'
import { payoutPath } from '../../../src/commands/signing/account-key.ts'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { backendSecret } from '../../support/variables.ts'
import { testMnemonic } from '../collect/harness.ts'
import { databaseId } from '../local-database.ts'
import { type PayoutDeployment, startDeployment } from './deployment.ts'
import { chainId, payoutAddress } from './harness.ts'
import { otherHash, startOwnNode } from './own-node.ts'
import { recipient } from './scripted-service.ts'

let deployment: PayoutDeployment
beforeEach(async () => {
  deployment = await startDeployment()
  const before = (deployment.time.clock.now() - 1_000) as UnixMs // safe: an earlier time
  createJournal(deployment.path('journal'), { chainId, address: payoutAddress }, before)
})
afterEach(() => deployment.stop())

const signing = ['--limits', 'limits.json', '--journal', 'journal', '--stdin']
const bearerOf = () => (deployment.script.headers.at(-1) ?? '').replace('Bearer ', '')

describe('npm run payout -- run', () => {
  const stopped = 'signed: 2.5 TRX'
  it('says first what it acts on, signs until it is stopped, and leaves no secret behind', async () => {
    deployment.script.ask({ to: recipient, amt: '2.5' })
    const processFile = deployment.path('process.json')
    const { code, out, all } = await deployment.run(['run', ...signing], {
      processFile,
      onStart: (child) => {
        child.stdout?.on('data', (chunk: string) => {
          if (chunk.includes(stopped)) child.kill('SIGINT')
        })
      },
    })
    const [first, second, ...lines] = out.trim().split('\n')
    expect(first).toBe(`Acts on this machine: database x (${databaseId}), chain ${chainId}.`)
    expect(second).toBe(`Payouts from ${payoutAddress}.`)
    expect(lines[0]).toBe('Journal journal: 0 transactions signed before.')
    expect(lines.at(-1)).toMatch(
      /^\d{4}-\S+Z {2}signed: 2\.5 TRX to T\w{33} \(uid 1, payout-1\) txid [0-9a-f]{64}: signed$/,
    )
    expect([code, deployment.script.payouts[0]?.state]).toEqual([0, 'signed'])

    const { privateKey } = TronWeb.fromMnemonic(testMnemonic, payoutPath)
    const files = readdirSync(deployment.path('.')).filter((name) => statSync(deployment.path(name)).isFile())
    expect(files).toEqual(expect.arrayContaining(['journal', 'process.json']))
    const texts = [...files.map((name) => readFileSync(deployment.path(name), 'latin1')), all]
    for (const secret of [privateKey.slice(2), 'test test', 'junk', 'xprv']) {
      for (const text of texts) expect(text.toLowerCase().includes(secret)).toBe(false)
    }
    expect(all).not.toContain(backendSecret)
  })

  it.each<[string, readonly string[], string]>([
    ['without limits', ['--stdin'], '--limits: the file with what this signer may sign'],
    ['with a path that is none', [...signing, '--path', 'm'], '--path: a derivation path such as'],
    ['with too large a step', [...signing, '--path', 'm/2147483648'], '--path: a derivation path such as'],
    ['with too short a life', [...signing, '--minutes', '9'], 'a whole number from 10 to 60'],
    ['with too long a life', [...signing, '--minutes', '61'], 'a whole number from 10 to 60'],
    [
      'with a txid that it has not signed',
      [...signing, '--again', 'ab'],
      '--again: ab is not in journal, and no payout',
    ],
    ['for a deployment without its URL', [...signing, '--env', 'nile'], '--service: the URL of the service'],
    ['with an option of another command', [...signing, '--out', 'x'], 'run takes no --out'],
    ['with a file', ['file', ...signing], 'run takes no file'],
  ])('shows how it is used %s', async (_, args, why) => {
    const { code, all } = await deployment.callAlone(['run', ...args])
    expect([code, all]).toEqual([2, expect.stringContaining(why)])
    expect(all).toContain('npm run payout -- run --limits')
    // Everything that can be checked without the mnemonic is checked before it is asked for.
    expect(all.includes('Mnemonic of')).toBe(args.includes('--again'))
    expect(deployment.script.received).toEqual([])
  })

  it.each<[string, readonly string[], object, string]>([
    ['without a journal', ['--limits', 'limits.json', '--stdin'], {}, 'there is no journal at payout-journal-T'],
    ['with another mnemonic', signing, { input: `${'abandon '.repeat(11)}about\n` }, 'this mnemonic has T'],
    ['with another path', [...signing, '--path', "m/44'/195'/0'/0/0"], {}, "at m/44'/195'/0'/0/0, and PAYOUTS has"],
    ['with a journal that is there', [...signing, '--new-journal'], {}, 'leave --new-journal out'],
    ['without PAYOUTS', signing, { environment: { PAYOUTS: '' } }, 'PAYOUTS is not set'],
    [
      'without a key for its tokens',
      signing,
      { environment: { BACKEND_JWT_SECRET: '' } },
      'there is no BACKEND_JWT_SECRET',
    ],
  ])('stops %s, and says what to do', async (_, args, options, why) => {
    const { code, all } = await deployment.call(['run', ...args], options)
    expect([code, all]).toEqual([1, expect.stringContaining(why)])
    expect(all).toContain('What to do: ')
    expect(deployment.script.received).toEqual([])
  })

  it.each([
    [['pay'], 'which command?'],
    [['sign'], 'sign: which file?'],
    [['run', '--mnemonic', 'x'], "Unknown option '--mnemonic'"],
  ])('shows how it is used: %j', async (args, why) => {
    const { code, all } = await deployment.callAlone(args)
    expect([code, all]).toEqual([2, expect.stringContaining(why)])
    expect(all).toContain('npm run payout -- run --limits')
  })
})

describe('the nodes of a signer', () => {
  /** Runs the signer until it has printed this text, then interrupts it. */
  const runUntil = (printed: string) => deployment.call(['run', ...signing], { stopAt: printed })
  const limits = [
    { cuy: 1, each: '100', perDay: '1000' },
    { cuy: 2, each: '100', perDay: '1000' },
  ]

  it('refuse a head of another chain: nothing is signed over it', async () => {
    deployment.script.ask({ to: recipient })
    const { block } = deployment.node.script
    deployment.node.script.block = (height) => ({ ms: height * 3_000, hash: otherHash(block(height)?.hash ?? '') })
    const { out } = await runUntil('Nothing is signed')
    expect(out).toContain('Nothing is signed: the nodes of this signer have another block')
    expect([
      deployment.script.received,
      readFileSync(deployment.path('journal'), 'utf8').trim().split('\n').length,
    ]).toEqual([[], 1])
  })

  it('refuse a token whose contract has other decimals than the settings of this machine', async () => {
    deployment.script.ask({ to: recipient, cuy: 2 })
    deployment.node.script.decimals = 8
    const { out } = await runUntil('not signed')
    expect(out).toContain('the contract of USDT has 8 decimals, by the nodes of this signer, and CURRENCIES')
    expect(deployment.script.received).toEqual([])
  })

  it('are those of the file of limits, where it names some', async () => {
    const other = await startOwnNode(deployment.time.clock.now)
    other.script.decimals = 6
    const nodes = [{ rpc: `${other.url}/jsonrpc`, api: other.url }]
    writeFileSync(deployment.path('limits.json'), JSON.stringify({ limits, nodes }))
    deployment.script.ask({ to: recipient, cuy: 2 })
    await runUntil('signed: ')
    expect(deployment.script.payouts[0]?.state).toBe('signed')
    expect([deployment.node.script.asked.length, other.script.asked.includes('eth_call')]).toEqual([0, true])
    await other.close()
  })

  it('are asked by the step without a network too, where it has one and the file names them', async () => {
    const { url } = deployment.node
    deployment.script.ask({ to: recipient, cuy: 2 })
    await deployment.call(['fetch', '--out', 'fetched.json'])
    const sign = ['sign', 'fetched.json', ...signing, '--beside-network', '--out']
    const alone = await deployment.call([...sign, 'alone.json'])
    expect(alone.all).toContain('No node was asked: neither this block nor any decimals are compared.')
    deployment.node.script.decimals = 8
    deployment.script.ask({ to: recipient, cuy: 2 })
    await deployment.call(['fetch', '--out', 'again.json'])
    const nodes = [{ rpc: `${url}/jsonrpc`, api: url }]
    writeFileSync(deployment.path('limits.json'), JSON.stringify({ limits, nodes }))
    const { all } = await deployment.call(['sign', 'again.json', ...signing, '--beside-network', '--out', 'b.json'])
    expect(all).toContain('the contract of USDT has 8 decimals')
    expect(all).not.toContain('No node was asked')
  })

  it('must be written as those of a service', async () => {
    writeFileSync(deployment.path('limits.json'), JSON.stringify({ limits, nodes: [{ rpc: 'x' }] }))
    const { code, all } = await deployment.call(['run', ...signing])
    expect([code, all]).toEqual([1, expect.stringContaining('the file of --limits: nodes.0.')])
  })
})

describe('the tokens of a signer', () => {
  it('are signed with the secret of the backends, name the signer, and live for minutes', async () => {
    await deployment.call(['fetch', '--out', 'fetched.json'])
    const { payload } = await jwtVerify(bearerOf(), new TextEncoder().encode(backendSecret))
    expect(payload).toMatchObject({ sub: 'signer', scope: 'ledger:sign ledger:read' })
    expect(payload.exp).toBe(Math.floor(deployment.time.clock.now() / 1_000) + 300)
  })

  it.each(['ES256', 'EdDSA', 'RS256'])('are signed with a private key of a file (%s)', async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    writeFileSync(deployment.path('key.json'), JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'k1' }))
    const environment = { BACKEND_JWT_SECRET: '', BACKEND_ISSUER: 'me', BACKEND_AUDIENCE: 'wallet' }
    const { code } = await deployment.call(['fetch', '--out', `${alg}.json`, '--token', 'key.json'], { environment })
    const { payload, protectedHeader } = await jwtVerify(bearerOf(), publicKey)
    expect([code, protectedHeader.kid, payload.iss, payload.aud]).toEqual([0, 'k1', 'me', 'wallet'])
  })

  it('are those of a file, as it is at each request', async () => {
    const secret = new TextEncoder().encode(backendSecret)
    const token = await new SignJWT({ scope: 'x' }).setProtectedHeader({ alg: 'HS256' }).setSubject('made').sign(secret)
    writeFileSync(deployment.path('token'), `${token}\n`)
    await deployment.call(['fetch', '--out', 'fetched.json', '--token', 'token'])
    expect(decodeJwt(bearerOf()).sub).toBe('made')
    writeFileSync(deployment.path('token'), 'a secret that is no token')
    const { code, all } = await deployment.call(['fetch', '--out', 'again.json', '--token', 'token'])
    expect([code, all]).toEqual([1, expect.stringContaining('token has neither a token nor a private key')])
    expect(all).not.toContain('a secret that')
  })
})

describe('the three steps for a machine without a network', () => {
  const sign = (...more: string[]) => ['sign', 'fetched.json', ...signing, '--beside-network', ...more]

  it('pay as a run does: fetch without a key, sign without a network, submit without a key', async () => {
    deployment.script.ask({ to: recipient, amt: '2.5' })
    deployment.script.ask({ to: recipient, amt: '101' })
    const fetched = await deployment.run(['fetch', '--out', 'fetched.json'], { input: '' })
    expect([fetched.code, fetched.out]).toEqual([0, expect.stringContaining(`to sign: 2.5 TRX to ${recipient}`)])
    const signed = await deployment.run(sign(), { withoutNetwork: true })
    expect([signed.code, signed.out]).toEqual([0, expect.stringContaining('1 transactions: fetched.signed.json')])
    expect(signed.out).toContain('not signed: 101 TRX')
    expect(deployment.script.received).toEqual([])
    const submitted = await deployment.run(['submit', 'fetched.signed.json'], { input: '' })
    expect([submitted.code, submitted.out]).toEqual([0, expect.stringContaining('1 of 1 transactions were taken')])
    expect(deployment.script.payouts.map(({ state }) => state)).toEqual(['signed', 'approved'])
    for (const name of ['fetched.json', 'fetched.signed.json'])
      expect(statSync(deployment.path(name)).mode & 0o777).toBe(0o600)

    const again = await deployment.call(['submit', 'fetched.signed.json'])
    expect([again.code, deployment.script.received.map(({ id }) => id)]).toEqual([0, [1, 1]])
  })

  it('give the same bytes again for the same offer, and for a service that was restored', async () => {
    const payout = deployment.script.ask({ to: recipient })
    await deployment.call(['fetch', '--out', 'fetched.json'])
    await deployment.call(sign('--out', 'first.json'))
    await deployment.call(sign('--out', 'second.json'))
    const read = (name: string) => readFileSync(deployment.path(name), 'utf8')
    expect(read('second.json')).toBe(read('first.json'))
    deployment.script.stopped = 'payouts are stopped'
    const stopped = await deployment.call(['fetch', '--out', 'stopped.json'])
    expect([stopped.code, stopped.all]).toEqual([
      0,
      expect.stringContaining('Nothing is offered: 409: payouts are stopped'),
    ])
    const { all } = await deployment.call([
      'sign',
      'stopped.json',
      ...signing,
      '--beside-network',
      '--out',
      'third.json',
    ])
    expect(all).toContain('1 transactions: third.json')
    await deployment.call(['submit', 'third.json'])
    expect(payout.state).toBe('signed')
  })

  it('sign with --backend-keys only what carries a right proof, and name the rest', async () => {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
    writeFileSync(deployment.path('keys.json'), JSON.stringify({ keys: [await exportJWK(publicKey)] }))
    const prove = (content: object) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(content)))
        .setProtectedHeader({ alg: 'EdDSA' })
        .sign(privateKey)
    const contentOf = (osn: string) => ({ uid: 1, cuy: 1, amt: '1', to: recipient, osn })
    deployment.script.ask({ ...contentOf('right'), proof: await prove(contentOf('right')) })
    deployment.script.ask({ ...contentOf('other'), proof: await prove({ ...contentOf('other'), amt: '2' }) })
    deployment.script.ask(contentOf('without'))
    await deployment.call(['fetch', '--out', 'fetched.json'])
    const { code, all } = await deployment.call(sign('--backend-keys', 'keys.json'))
    expect([code, all]).toEqual([0, expect.stringContaining('1 transactions: fetched.signed.json')])
    expect(all).toMatch(/not signed: .*\(uid 1, other\): its proof is of another payout/)
    expect(all).toMatch(/not signed: .*\(uid 1, without\): it has no proof of a backend/)
    await deployment.call(['submit', 'fetched.signed.json'])
    expect(deployment.script.payouts.map(({ state }) => state)).toEqual(['signed', 'approved', 'approved'])
  })

  describe('where a payout has failed and is approved again, long before its transaction expires,', () => {
    /**
     * Signs a payout in the three steps. The service then shows that its transaction has ended, and
     * the node that it has failed in a final block.
     */
    const failed = async (mined: boolean | null = false) => {
      const payout = deployment.script.ask({ to: recipient })
      await deployment.call(['fetch', '--out', 'first.json'])
      await deployment.call(['sign', 'first.json', ...signing, '--beside-network', '--out', 'a.json'])
      await deployment.call(['submit', 'a.json'])
      const txid = payout.txid ?? ''
      Object.assign(payout, { state: 'approved', attempts: 1, txid: undefined })
      if (mined !== null) deployment.node.script.mined.set(txid, mined)
      return txid
    }
    const again = (txid: string) => deployment.call(sign('--again', txid))

    it('sign it at once where `sign` asks nodes of its own', async () => {
      await failed()
      const nodes = [{ rpc: `${deployment.node.url}/jsonrpc`, api: deployment.node.url }]
      const limits = [{ cuy: 1, each: '100', perDay: '1000' }]
      writeFileSync(deployment.path('limits.json'), JSON.stringify({ limits, nodes }))
      await deployment.call(['fetch', '--out', 'fetched.json'])
      expect((await deployment.call(sign())).all).toContain('1 transactions: fetched.signed.json')
    })

    it('sign it at once where `fetch` was shown that it has failed, and a person names it too', async () => {
      const txid = await failed()
      const { all } = await deployment.call(['fetch', '--again', txid, '--out', 'fetched.json'])
      expect(all).toContain(`${txid} has failed in a final block: sign --again ${txid} signs its payout at once`)
      expect((await deployment.call(sign('--out', 'none.json'))).all).toContain('0 transactions: none.json')
      expect((await again(txid)).all).toContain('1 transactions: fetched.signed.json')
    })

    it.each([
      ['has succeeded', true, 'and succeeded there'],
      ['is in no block', null, 'it is in no block'],
    ])('sign nothing where it %s', async (_, mined, why) => {
      const txid = await failed(mined)
      const { all } = await deployment.call(['fetch', '--again', txid, '--out', 'fetched.json'])
      expect(all).toContain(why)
      const signed = await again(txid)
      expect(signed.all).toContain('0 transactions: fetched.signed.json')
      expect(signed.all).toMatch(
        /signed again from \S+Z on, or at once if fetch --again [0-9a-f]{64} finds that it has failed/,
      )
    })

    it('never say that it can be mined until a time that is past', async () => {
      const txid = await failed()
      deployment.time.clock.jump(61 * 60_000)
      await deployment.call(['fetch', '--out', 'fetched.json'])
      const { all } = await again(txid)
      expect(all).not.toContain('can be mined')
      expect(all).toMatch(/it has expired: signed again from \S+Z on/)
    })
  })

  it('sign nothing where the file of --backend-keys has no public keys', async () => {
    await deployment.call(['fetch', '--out', 'fetched.json'])
    const { code, all } = await deployment.call(sign('--backend-keys', 'limits.json'))
    expect([code, all]).toEqual([1, expect.stringContaining('is no JWKS of public keys alone')])
  })

  it('sign nothing beside a network, of another chain or of another file', async () => {
    deployment.script.ask({ to: recipient })
    await deployment.call(['fetch', '--out', 'fetched.json'])
    const refused = async (args: readonly string[], options: object = {}) => (await deployment.call(args, options)).all
    const isAlone = Object.values(networkInterfaces()).every((all) => all?.every(({ internal }) => internal))
    expect(await refused(sign('--out', 'alone.json').filter((word) => word !== '--beside-network'))).toContain(
      isAlone ? 'transactions: alone.json' : 'this machine has a network, and this command a key',
    )
    const environment = { TRON_CHAIN_ID: '0x2b6653dc' }
    expect(await refused(sign(), { environment })).toContain('is for TKUw')
    expect(await refused(['sign', 'limits.json', ...signing, '--beside-network'])).toContain(
      'is not a file of "payout -- fetch"',
    )
    expect(await refused(['submit', 'fetched.json'])).toContain('is not a file of "payout -- sign"')
    expect(deployment.script.received).toEqual([])
  })

  it('end with 1 where the service refuses one, and say which and why', async () => {
    const payout = deployment.script.ask({ to: recipient })
    await deployment.call(['fetch', '--out', 'fetched.json'])
    await deployment.call(sign('--out', 'signed.json'))
    deployment.script.refusals.set(payout.id, { code: 422, reason: 'fee-limit', why: 'the fee limit is too high' })
    const { code, all } = await deployment.call(['submit', 'signed.json'])
    expect([code, all]).toEqual([1, expect.stringContaining('REFUSED: 1 TRX to')])
    expect(all).toContain('422: the fee limit is too high')
    await deployment.service.close()
    const gone = await deployment.call(['submit', 'signed.json'])
    expect([gone.code, gone.all]).toEqual([1, expect.stringContaining('the service cannot be reached: ECONNREFUSED')])
  })
})
