import * as schemas from '../../schemas/parts.ts'
import type { LedgerRoute } from '../context.ts'
import { handleRead } from '../handlers.ts'
import type * as docs from '../openapi/docs.ts'
import { useCases } from '../use-cases.ts'

/** The newest checkpoint of the archive. */
export const ledgerCheckpoint = {
  path: '/ledger/checkpoint',
  method: 'GET',
  ...useCases.checkpoint,
  handle: handleRead(useCases.checkpoint),
} satisfies LedgerRoute

/**
 * `GET /ledger/checkpoint` in the OpenAPI document. The Worker never calls this function, so its
 * bundle has none of these texts.
 */
export const ledgerCheckpointDocs = () =>
  ({
    id: 'getLedgerCheckpoint',
    summary: 'The newest checkpoint of the archive',
    description:
      'What the archive had when its newest segment was written, as a signed note (C2SP tlog-checkpoint). Keep copies of it: nobody ' +
      'can then change an older line of the archive unseen. Only where `ARCHIVE` and `SEAL_KEY` are set.',
    query: useCases.checkpoint.input,
    success: schemas.dataBody('LedgerCheckpointResponse', () => ({
      origin: schemas.textSchema('The name of the archive.'),
      size: schemas.countSchema('How many lines it had.'),
      root: schemas.textSchema('The root of the RFC 6962 tree of its lines, in Base64.'),
      note: schemas.textSchema('The signed note, with its line breaks.'),
      key: schemas.textSchema('The key that verifies the note. Get it once by another way, and compare.'),
    })),
    examples: [{ name: 'a checkpoint', given: 'a sealed archive' }],
    failures: [
      {
        name: 'no-checkpoint',
        cause: 'There is no archive, it is not sealed, or nothing was written yet.',
        cure: 'Set `ARCHIVE` and `SEAL_KEY`, or ask again in a minute.',
        given: 'a new caller',
      },
    ],
  }) satisfies docs.Operation
