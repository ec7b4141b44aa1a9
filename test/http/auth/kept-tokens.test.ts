import { expect, test } from 'vitest'
import type { UnixMs } from '../../../src/worker/common/time.ts'
import { keepVerified, keptTokenMs, keptTokensMax } from '../../../src/worker/http/auth/kept-tokens.ts'
import { createTokenVerifier, type TokenVerifier } from '../../../src/worker/http/auth/verify-token.ts'
import { goodClaims, signHs256, tokenNow } from '../../support/tokens.ts'
import { secretConfig } from './auth-harness.ts'

/** A verifier that remembers valid tokens, over one that counts how often it really verifies. */
function keeping() {
  const clock = { ms: tokenNow * 1000 }
  const now = () => clock.ms as UnixMs
  const quiet = () => undefined
  const parts = {
    clock: { now, sleep: async () => undefined },
    logger: { info: quiet, warn: quiet, error: quiet, alarm: quiet },
    fetch: () => Promise.reject(new TypeError('no such host')),
    waitUntil: quiet,
  }
  const real = createTokenVerifier(secretConfig, parts, 'uid') as TokenVerifier // safe: the configuration has a key
  let verified = 0
  const counted: TokenVerifier = {
    ...real,
    verify(token) {
      verified += 1
      return real.verify(token)
    },
  }
  const { verify } = keepVerified(counted, { now })
  return {
    clock,
    /** Whether the token is accepted now, and how often tokens were really verified so far. */
    async take(token: string) {
      const { ok } = await verify(token)
      return [ok, verified] as const
    },
  }
}

test('a token is verified once, and again a minute later', async () => {
  const { clock, take } = keeping()
  const token = await signHs256(goodClaims())
  expect([await take(token), await take(token)]).toEqual([
    [true, 1],
    [true, 1],
  ])
  clock.ms += keptTokenMs - 1
  expect(await take(token)).toEqual([true, 1])
  clock.ms += 1
  expect(await take(token)).toEqual([true, 2])
})

test('a token is not taken from its exp on, however short ago it was verified', async () => {
  const { clock, take } = keeping()
  const token = await signHs256(goodClaims({ exp: tokenNow + 10 }))
  expect(await take(token)).toEqual([true, 1])
  clock.ms += 9_999
  expect(await take(token)).toEqual([true, 1])
  clock.ms += 1
  expect(await take(token)).toEqual([false, 2])
})

test('a token is verified again after the clock has stepped back: it may not be valid yet', async () => {
  const { clock, take } = keeping()
  const token = await signHs256(goodClaims({ nbf: tokenNow }))
  expect(await take(token)).toEqual([true, 1])
  clock.ms -= 60_000
  expect(await take(token)).toEqual([false, 2])
})

test('a refused token is verified each time, and a token with another signature is another one', async () => {
  const { take } = keeping()
  const token = await signHs256(goodClaims())
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(43)}`
  expect(await take(token)).toEqual([true, 1])
  expect([await take(forged), await take(forged)]).toEqual([
    [false, 2],
    [false, 3],
  ])
})

test('the oldest of more tokens than are kept is verified again', async () => {
  const { take } = keeping()
  const first = await signHs256(goodClaims({ sub: '1' }))
  await take(first)
  for (let n = 0; n < keptTokensMax - 1; n += 1) await take(await signHs256(goodClaims({ sub: `${n + 2}` })))
  expect(await take(first)).toEqual([true, keptTokensMax])
  await take(await signHs256(goodClaims({ sub: '9000' })))
  expect(await take(first)).toEqual([true, keptTokensMax + 2])
})
