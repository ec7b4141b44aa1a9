import * as z from 'zod/mini'
import * as schemas from './parts.ts'

/** The members of a checkpoint of the archive. */
export const checkpointMembers = () => ({
  origin: schemas.textSchema('The name of the archive.'),
  size: schemas.countSchema('How many lines it had.'),
  root: schemas.textSchema('The root of the RFC 6962 tree of its lines, in Base64.'),
  note: schemas.textSchema('The signed note, with its line breaks.'),
  key: schemas.textSchema('The key that verifies the note. Get it once by another way, and compare.'),
})

/** The body of the webhook `ledger.sealed`, which is no event of the feed and has no number. */
export const sealedSchema = () =>
  schemas.object('LedgerSealed', () => ({
    type: schemas.textSchema('Always `ledger.sealed`.', /^ledger[.]sealed$/),
    cell: z.optional(schemas.idSchema('The number of the database, where a deployment has several.')),
    data: z.strictObject(checkpointMembers()),
  }))
