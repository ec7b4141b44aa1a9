import type { ChainFailure } from '../chain/failure.ts'
import type { QueryFailure } from '../common/query-failure.ts'

/** Why nothing can be said about a transaction now. */
export const disputed: QueryFailure = { kind: 'undecided', why: 'the nodes disagree about this transaction' }
/** The chain is known to be forked. */
export const haltedFailure: QueryFailure = {
  kind: 'undecided',
  why: 'the nodes show another chain than before; nothing is credited until an operator has checked it',
}

/** The configuration is not that of the stored data. */
export const misconfigured: QueryFailure = {
  kind: 'undecided',
  why: 'nothing is credited until an operator has corrected the configuration',
}

/** What a caller gets where the chain cannot be read. A limit is said as such, with whose it is. */
export function toQueryFailure(failure: ChainFailure): QueryFailure {
  switch (failure.kind) {
    case 'disagreement':
      return disputed
    case 'forked':
      return haltedFailure
    case 'limited':
      return { kind: 'limited', whose: failure.whose, seconds: failure.seconds }
    case 'no-answer':
    case 'out-of-time':
      return { kind: 'chain-unavailable' }
  }
}
