import type { AlarmKind, AlarmSubjects } from './alarm-table.ts'
import type { LogFields } from './logger.ts'

/**
 * `subject` distinguishes faults of one kind and is stored. `fields` go into the alarm's log line.
 */
type FaultOf<Kind extends AlarmKind> = {
  readonly kind: Kind
  readonly subject: AlarmSubjects[Kind]
  readonly fields: LogFields
  /**
   * The alarm is raised if the fault is still observed this long after its first observation.
   * Without `afterMs` it is raised at once.
   */
  readonly afterMs?: number
}
/** A fault of any kind, with the subject that its kind has. */
export type Fault = { readonly [Kind in AlarmKind]: FaultOf<Kind> }[AlarmKind]

/** The result of one look at the service: these faults, and no other fault of these `kinds`. */
export interface Observation {
  readonly kinds: readonly AlarmKind[]
  readonly faults: readonly Fault[]
}
