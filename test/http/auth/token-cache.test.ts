import { describe, expect, test } from 'vitest'
import type { Uid } from '../../../src/common/ids.ts'
import type { UnixMs } from '../../../src/common/time.ts'
import {
  cachedToken,
  cachedTokenMs,
  cachedTokensMax,
  cacheToken,
  type TokenCache,
} from '../../../src/http/auth/token-cache.ts'
import { goodClaims, signHs256 } from '../../support/tokens.ts'
import { admitted, authHarness, refused, secretConfig } from './auth-harness.ts'

const now = 1_790_000_000_000 as UnixMs
const later = (ms: number) => (now + ms) as UnixMs
const verified = (uid: number, exp = 2_000_000_000) => ({ uid: uid as Uid, exp, verifiedAt: now })

describe('a cached token', () => {
  test('is used until it expires', () => {
    const cache: TokenCache = new Map([['token', verified(7, now / 1000 + 10)]])
    expect(cachedToken(cache, 'token', later(9_999))?.uid).toBe(7)
    expect(cachedToken(cache, 'token', later(10_000))).toBeNull()
    expect(cache.size).toBe(0)
  })

  test('is verified again after a while, and where the clock goes back', () => {
    const cache: TokenCache = new Map([['token', verified(7)]])
    expect(cachedToken(cache, 'token', later(cachedTokenMs - 1))?.uid).toBe(7)
    expect(cachedToken(cache, 'token', later(cachedTokenMs))).toBeNull()
    cacheToken(cache, 'token', verified(7))
    expect(cachedToken(cache, 'token', later(-1))).toBeNull()
  })

  test('is replaced by a new one where the cache is full, the oldest first', () => {
    const cache: TokenCache = new Map()
    for (let i = 0; i < cachedTokensMax; i += 1) cacheToken(cache, `token-${i}`, verified(7))
    cacheToken(cache, 'token-0', verified(7)) // now the newest
    cacheToken(cache, 'another', verified(8))
    expect(cache.size).toBe(cachedTokensMax)
    expect(cachedToken(cache, 'token-1', now)).toBeNull()
    expect(cachedToken(cache, 'token-0', now)?.uid).toBe(7)
    expect(cachedToken(cache, 'another', now)?.uid).toBe(8)
  })

  test('is that of one caller: another token is another caller', async () => {
    const harness = authHarness(secretConfig)
    const [seven, eight] = [await signHs256(goodClaims()), await signHs256(goodClaims({ sub: '8' }))]
    for (const [token, uid] of [
      [seven, 7],
      [eight, 8],
      [seven, 7],
      [eight, 8],
    ] as const) {
      expect(await harness.verify(token)).toEqual(admitted(uid))
    }
    const mixed = `${seven.slice(0, seven.lastIndexOf('.'))}${eight.slice(eight.lastIndexOf('.'))}`
    expect(await harness.verify(mixed)).toEqual(refused)
  })
})
