import type { Uid } from '../../../src/worker/common/ids.ts'
import { jwtSecret, signHs256 } from '../../support/tokens.ts'
import { backendSecret, testSecret } from '../../support/variables.ts'
import { startMs } from '../environment.ts'
import { usersMax } from '../scenario.ts'

const nowSeconds = startMs / 1000
const claimsOf = (uid: number, seconds = 31_536_000) => ({ sub: String(uid), exp: nowSeconds + seconds })

// Signed once: tokens do not depend on the run.
const tokens = await Promise.all(Array.from({ length: usersMax }, (_, i) => signHs256(claimsOf(i + 1), testSecret)))

/** Requests without a valid token: none, expired, signed with another secret, without a caller. */
export const invalidTokens: readonly (string | null)[] = [
  null,
  await signHs256(claimsOf(1, -1), testSecret),
  await signHs256(claimsOf(1), jwtSecret),
  await signHs256({ exp: nowSeconds + 3_600 }, testSecret),
]

/** The caller's valid token. */
export function tokenOf(uid: Uid): string {
  const token = tokens[uid - 1]
  if (token === undefined) throw new Error(`uid ${uid} has no token`)
  return token
}

const halfHour = 1_800
/**
 * The names of backends and what they may do: the shop asks for payouts, the boss approves them,
 * the signer signs. `own` is the shop as approver.
 */
const backends = {
  post: { sub: 'shop', scope: 'ledger:post ledger:approve' },
  shop: { sub: 'shop', scope: 'ledger:pay' },
  own: { sub: 'shop', scope: 'ledger:pay ledger:approve' },
  boss: { sub: 'boss', scope: 'ledger:approve' },
  signer: { sub: 'signer', scope: 'ledger:sign ledger:read' },
} as const
export type BackendToken = keyof typeof backends

// A backend's token is valid for an hour at most, and clocks differ. So there is a new token for
// each half hour, until after the last post.
const backendTokens = new Map(
  await Promise.all(
    Object.entries(backends).flatMap(([name, claims]) =>
      Array.from({ length: 96 }, async (_, i) => {
        const exp = nowSeconds + (i + 2) * halfHour - 60
        return [`${name} ${i}`, await signHs256({ ...claims, exp }, backendSecret)] as const
      }),
    ),
  ),
)

/** A backend's valid token at a time in milliseconds. */
export function backendTokenAt(ms: number, name: BackendToken = 'post'): string {
  const token = backendTokens.get(`${name} ${Math.floor((ms - startMs) / 1000 / halfHour)}`)
  if (token === undefined) throw new Error('no token is signed for so late a time')
  return token
}
