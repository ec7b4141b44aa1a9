import { checkpointMembers } from '../../schemas/checkpoint.ts'
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
      'can then change an older line of the archive unseen. The webhook `ledger.sealed` brings each. Only where `ARCHIVE` and `SEAL_KEY` are set.',
    query: useCases.checkpoint.input,
    success: schemas.dataBody('LedgerCheckpointResponse', checkpointMembers),
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
