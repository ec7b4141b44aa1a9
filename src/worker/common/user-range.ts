import { reservedUid, type Uid } from './ids.ts'

/** The users with numbers `from` to `to`, both included. */
export interface UserRange {
  readonly from: Uid
  readonly to: Uid
}

/**
 * Describes a range in messages to operators and callers: `users 1 to 999`, or `users from 1000` if
 * it has no end.
 */
export function describeUsers({ from, to }: UserRange): string {
  return to === reservedUid ? `users from ${from}` : `users ${from} to ${to}`
}

/** A range as `CELLS` writes it: `1-999`. */
export const formatRange = ({ from, to }: UserRange): string => `${from}-${to}`

/** Every user, and `reservedUid`, the owner of reserved addresses. */
export const allUsers: UserRange = { from: 1 as Uid, to: reservedUid } // safe: the smallest user
