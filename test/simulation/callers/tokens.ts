import { createHmac } from 'node:crypto'
import type { Uid } from '../../../src/worker/common/ids.ts'
import { forgeToken, jwtSecret } from '../../support/tokens.ts'
import type { Deployed } from '../deployed.ts'
import { startMs } from '../environment.ts'

/** What decides about a token: when it is used, and the secrets of the deployed configuration. */
interface TokenWorld {
  readonly scheduler: { now(): number }
  readonly deployed: Pick<Deployed, 'callerSecrets' | 'backendSecrets'>
}

const startSeconds = startMs / 1000
const daySeconds = 86_400
const kept = new Map<string, string>()

/** A token signed by HS256, once for each claims and secret, in the same turn of the event loop. */
function sign(claims: object, secret: string): string {
  const unsigned = forgeToken({ alg: 'HS256', typ: 'JWT' }, claims).slice(0, -1)
  const key = `${secret} ${unsigned}`
  const token = kept.get(key) ?? `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
  kept.set(key, token)
  return token
}

/** Requests without a valid token: none, expired, signed with another secret, without a caller. */
export function invalidTokens({ scheduler, deployed: { callerSecrets } }: TokenWorld): readonly (string | null)[] {
  const [secret = ''] = callerSecrets
  const nowSeconds = Math.floor(scheduler.now() / 1000)
  return [
    null,
    sign({ sub: '1', exp: startSeconds - 1 }, secret),
    sign({ sub: '1', exp: nowSeconds + 3_600 }, jwtSecret),
    sign({ exp: nowSeconds + 3_600 }, secret),
  ]
}

/**
 * A caller's valid token, which is the same for a day. While secrets rotate, some tokens have the
 * new one and some the previous one.
 */
export function tokenOf({ scheduler, deployed: { callerSecrets } }: TokenWorld, uid: Uid): string {
  const day = Math.floor((scheduler.now() / 1000 - startSeconds) / daySeconds)
  return sign(
    { sub: String(uid), exp: startSeconds + (day + 2) * daySeconds },
    callerSecrets[uid % callerSecrets.length] ?? '',
  )
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

/**
 * A backend's valid token. It is valid for an hour at most, and clocks differ. So there is a new
 * token for each half hour.
 */
export function backendTokenAt(
  { scheduler, deployed: { backendSecrets } }: TokenWorld,
  name: BackendToken = 'post',
): string {
  const slot = Math.floor((scheduler.now() / 1000 - startSeconds) / halfHour)
  const secret = backendSecrets[slot % backendSecrets.length] ?? ''
  return sign({ ...backends[name], exp: startSeconds + (slot + 2) * halfHour - 60 }, secret)
}
