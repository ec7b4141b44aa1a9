import { CompactSign, exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { findProofFault, parseBackendKeys } from '../../../src/tools/payout/proof.ts'
import { payoutAddress } from './harness.ts'
import { recipient } from './scripted-service.ts'

const content = { uid: 7, cuy: 2, amt: '25', to: recipient, osn: 'order-1' }
const payout = {
  ...content,
  id: 1,
  state: 'approved',
  attempts: 0,
  created_at: '2026-11-25T12:00:00.000Z',
}

async function backend(alg: 'EdDSA' | 'ES256' | 'RS256') {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  const sign = (text: string, header: object = {}) =>
    new CompactSign(new TextEncoder().encode(text)).setProtectedHeader({ alg, ...header }).sign(privateKey)
  return { jwk, privateJwk: await exportJWK(privateKey), sign }
}
const [ed, es] = [await backend('EdDSA'), await backend('ES256')]
const keys = parseBackendKeys(JSON.stringify({ keys: [es.jwk, ed.jwk] }))
const check = (proof: string | undefined, changes: Partial<typeof content> = {}) =>
  findProofFault({ ...payout, ...changes, proof }, keys)

describe('a proof of a backend', () => {
  it.each([ed, es])('is right if a key of the file has signed exactly these members', async ({ sign }) => {
    expect(await check(await sign(JSON.stringify(content)))).toBeNull()
    expect(await check(await sign(`{"osn":"order-1","to":"${recipient}","amt":25.00,"cuy":2,"uid":7}`))).toBeNull()
  })

  it.each<[string, Partial<typeof content>]>([
    ['uid', { uid: 8 }],
    ['currency', { cuy: 1 }],
    ['amount', { amt: '250' }],
    ['recipient', { to: payoutAddress }],
    ['key', { osn: 'order-2' }],
  ])('is not of a payout with another %s', async (_, changes) => {
    expect(await check(await ed.sign(JSON.stringify(content)), changes)).toBe('its proof is of another payout')
  })

  it('is needed, by a key of the file, and has no other members', async () => {
    const [stranger, rsa] = [await backend('EdDSA'), await backend('RS256')]
    expect(await check(undefined)).toBe('it has no proof of a backend')
    for (const proof of [
      await stranger.sign(JSON.stringify(content)),
      await rsa.sign(JSON.stringify(content)),
      await ed.sign(JSON.stringify({ ...content, mark: 'x' })),
      await ed.sign(JSON.stringify({ ...content, uid: '7' })),
      await ed.sign('not JSON'),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(content)).toString('base64url')}.`,
      'rubbish',
    ]) {
      expect(await check(proof)).toBe('its proof is by no key of --backend-keys, or has another form')
    }
  })

  it.each([
    ['a private key', { keys: [ed.privateJwk] }],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['no key', { keys: [] }],
    ['no key set', [ed.jwk]],
  ])('has no file of keys with %s', (_, file) => {
    expect(() => parseBackendKeys(JSON.stringify(file))).toThrow('is no JWKS of public keys alone')
  })
})
