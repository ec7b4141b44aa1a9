import { describe, expect, it } from 'vitest'
import { findProofFault, parseBackendKeys } from '../../../src/commands/payout/proof.ts'
import { makeKey, proofs, proven } from '../../payouts/proofs.ts'
import { payoutAddress } from './harness.ts'

const payout = { ...proven, id: 1, state: 'approved', attempts: 0, created_at: '2026-11-25T12:00:00.000Z' }
const made = { ed: await makeKey('EdDSA'), es: await makeKey('ES256') }
const keys = parseBackendKeys(JSON.stringify({ keys: [made.es.jwk, made.ed.jwk] }))
const check = (proof: string | undefined, changes: Partial<typeof proven> = {}) =>
  findProofFault({ ...payout, ...changes, proof }, keys)

describe('a proof of a backend', () => {
  it.each(proofs.filter(({ why }) => why === null))('$how is taken by a signer', async ({ make }) => {
    expect(await check(await make(made))).toBeNull()
  })

  it.each(proofs.flatMap((row) => (row.why === null ? [] : [{ ...row, why: row.why }])))(
    '$how is taken by no signer',
    async ({ make, why }) => {
      const fault = await check(await make(made))
      expect(fault).toContain(why.startsWith('another ') ? 'its proof is of another payout' : why)
    },
  )

  it.each<[string, Partial<typeof proven>]>([
    ['uid', { uid: 8 }],
    ['currency', { cuy: 1 }],
    ['amount', { amt: '50' }],
    ['recipient', { to: payoutAddress }],
    ['key', { osn: 'order-2' }],
  ])('is not of a payout with another %s', async (_, changes) => {
    expect(await check(await made.ed.sign(JSON.stringify(proven)), changes)).toBe('its proof is of another payout')
  })

  it('is needed, by a key of the file', async () => {
    const [stranger, other] = [await makeKey('EdDSA'), await makeKey('ES256')]
    expect(await check(undefined)).toBe('it has no proof of a backend')
    for (const { sign } of [stranger, other]) {
      expect(await check(await sign(JSON.stringify(proven)))).toBe('its proof is by no key of --backend-keys')
    }
    const [header, , signature] = (await made.ed.sign(JSON.stringify(proven))).split('.')
    const changed = Buffer.from(JSON.stringify({ ...proven, amt: '50' })).toString('base64url')
    expect(await check(`${header}.${changed}.${signature}`, { amt: '50' })).toBe(
      'its proof is by no key of --backend-keys',
    )
  })

  it.each(['EdDSA', 'Ed25519'] as const)('is by the same key, whether that is called %s or the other', async (name) => {
    const named = parseBackendKeys(JSON.stringify({ keys: [{ ...made.ed.jwk, alg: name, use: 'sig' }] }))
    for (const alg of ['EdDSA', 'Ed25519']) {
      const proof = await made.ed.sign(JSON.stringify(proven), { alg })
      expect(await findProofFault({ ...payout, proof }, named)).toBeNull()
    }
  })

  it.each([
    ['a private key', { keys: [made.ed.privateJwk] }],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
    ['no key', { keys: [] }],
    ['no key set', [made.ed.jwk]],
  ])('has no file of keys with %s', (_, file) => {
    expect(() => parseBackendKeys(JSON.stringify(file))).toThrow('is no JWKS of public keys alone')
  })
})
