import { reservedUid, type Uid } from './ids.ts'

/** Users with adjacent numbers, from the first to the last. */
export interface UserRange {
  readonly from: Uid
  readonly to: Uid
}

/** The users of a range, for messages. */
export function describeUsers({ from, to }: UserRange): string {
  return to === reservedUid ? `users from ${from}` : `users ${from} to ${to}`
}

/** Every user, and the owner of reserved addresses. */
export const allUsers: UserRange = { from: 1 as Uid, to: reservedUid } // safe: the smallest user
