/** Values that may stand in a log line. Never a token, key, node URL, address list or body. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** What a person must see. One fixed form, so that one alert rule finds them all. */
export type AlarmKind =
  | 'nodes-disagree'
  | 'chain-forked'
  | 'finality-stalled'
  | 'node-lies'
  | 'deposit-too-large'
  | 'decimals-differ'
  | 'reconciliation-shortfall'
  | 'reconciliation-surplus'
  | 'misconfigured'

/** One structured line for each call. */
export interface Log {
  info(event: string, fields: LogFields): void
  warn(event: string, fields: LogFields): void
  error(event: string, fields: LogFields): void
  alarm(kind: AlarmKind, fields: LogFields): void
}
