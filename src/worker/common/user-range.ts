import { reservedUid, type Uid } from './ids.ts'

/** Users with adjacent numbers, from the first to the last. */
export interface UserRange {
  readonly from: Uid
  readonly to: Uid
}

/** Every user, and the owner of reserved addresses. */
export const allUsers: UserRange = { from: 1 as Uid, to: reservedUid } // safe: the smallest user
