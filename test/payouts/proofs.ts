import { base64url, CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { addressOf } from '../support/transaction-spec.ts'

/** The payout that the proofs of these tests are for. */
export const proven = { uid: 7, cuy: 2, amt: '5', to: formatBase58(addressOf(60)), osn: 'order-1' }

/** A key pair with which a backend proves that it has asked for a payout. */
export interface BackendKey {
  readonly jwk: JWK
  readonly privateJwk: JWK
  /**
   * Signs a text as a compact JWS. `header` adds members, or names another algorithm than the
   * key's.
   */
  sign(text: string, header?: object): Promise<string>
}

/** Makes a key pair. Node and browsers call the algorithm `Ed25519`, other software `EdDSA`. */
export async function makeKey(alg: 'EdDSA' | 'Ed25519' | 'ES256' | 'RS256'): Promise<BackendKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return {
    jwk: await exportJWK(publicKey),
    privateJwk: await exportJWK(privateKey),
    sign: (text, header = {}) =>
      new CompactSign(new TextEncoder().encode(text)).setProtectedHeader({ alg, ...header }).sign(privateKey),
  }
}

const text = (changes: object = {}) => JSON.stringify({ ...proven, ...changes })
/** The proof's text with its amount as a JSON number, in exactly these digits. */
const withNumber = (digits: string) => text({ amt: '?' }).replace('"?"', digits)
const part = (value: unknown) => base64url.encode(JSON.stringify(value))

type Made = (keys: { readonly ed: BackendKey; readonly es: BackendKey }) => Promise<string>
/** A proof, and words of the sentence that refuses it; null if it is right. */
interface Row {
  readonly how: string
  readonly make: Made
  readonly why: string | null
}
const right = (how: string, make: Made): Row => ({ how, make, why: null })
const wrong = (why: string, how: string, make: Made): Row => ({ how, make, why })

const form = 'a compact JWS'
const members = 'uid, cuy, amt, to and osn'

/** Proofs that the service and every signer must accept, and proofs that both must refuse. */
export const proofs: readonly Row[] = [
  right('by an Ed25519 key, called EdDSA', ({ ed }) => ed.sign(text())),
  right('by an Ed25519 key, called Ed25519', ({ ed }) => ed.sign(text(), { alg: 'Ed25519' })),
  right('by an ES256 key', ({ es }) => es.sign(text())),
  right('with a key id and a type in its header', ({ es }) => es.sign(text(), { kid: 'k1', typ: 'JWT' })),
  right('with its members in another order', ({ ed }) =>
    ed.sign(JSON.stringify(Object.fromEntries(Object.entries(proven).reverse()))),
  ),
  right('with its amount as a number', ({ ed }) => ed.sign(withNumber('5'))),
  right('with zeros behind its amount', ({ ed }) => ed.sign(withNumber('5.00'))),
  right('with more zeros than the ledger has places', ({ ed }) => ed.sign(text({ amt: '5.00000000' }))),

  wrong(form, 'that is no JWS', async () => 'a.b.c'),
  wrong(form, 'that is empty', async () => ''),
  wrong(form, 'with a space behind it', async ({ ed }) => `${await ed.sign(text())} `),
  wrong(form, 'by another algorithm', async ({ ed }) => {
    const [, payload, signature] = (await ed.sign(text())).split('.')
    return `${part({ alg: 'HS256' })}.${payload}.${signature}`
  }),
  wrong(form, 'by no algorithm', async () => `${part({ alg: 'none' })}.${part(proven)}.`),
  wrong(form, 'with what must be understood in its header', async ({ ed }) => {
    const [, payload, signature] = (await ed.sign(text())).split('.')
    return `${part({ alg: 'EdDSA', crit: ['x'], x: 1 })}.${payload}.${signature}`
  }),
  wrong(form, 'whose payload is not in base64', async ({ ed }) => {
    const [, payload, signature] = (await ed.sign(text())).split('.')
    return `${part({ alg: 'EdDSA', b64: false })}.${payload}.${signature}`
  }),
  wrong('64 bytes', 'whose signature is in DER', async ({ es }) => {
    const [header, payload] = (await es.sign(text())).split('.')
    return `${header}.${payload}.${base64url.encode(new Uint8Array(71).fill(0x30))}`
  }),
  wrong(members, 'that is no JSON', ({ ed }) => ed.sign('not JSON')),
  wrong(members, 'that is a list', ({ ed }) => ed.sign('[]')),
  wrong(members, 'with a member more', ({ ed }) => ed.sign(text({ mark: 'x' }))),
  wrong(members, 'that leaves out whom it pays', ({ ed }) => ed.sign(text({ to: undefined }))),
  wrong(members, 'with the user as text', ({ ed }) => ed.sign(text({ uid: '7' }))),
  wrong(members, 'with a zero before its amount', ({ ed }) => ed.sign(text({ amt: '05' }))),
  wrong(members, 'with a sign', ({ ed }) => ed.sign(text({ amt: '+5' }))),
  wrong(members, 'with an exponent', ({ ed }) => ed.sign(withNumber('5e0'))),
  wrong(members, 'with a point and nothing behind it', ({ ed }) => ed.sign(text({ amt: '5.' }))),

  wrong('another uid', 'of another user', ({ ed }) => ed.sign(text({ uid: 8 }))),
  wrong('another cuy', 'of another currency', ({ ed }) => ed.sign(text({ cuy: 1 }))),
  wrong('another amt', 'of another amount', ({ ed }) => ed.sign(text({ amt: '50' }))),
  wrong('another amt', 'of a smaller amount', ({ ed }) => ed.sign(text({ amt: '5.0000001' }))),
  wrong('another to', 'of another recipient', ({ ed }) => ed.sign(text({ to: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }))),
  wrong('another osn', 'of another key', ({ ed }) => ed.sign(text({ osn: 'order-2' }))),
]
