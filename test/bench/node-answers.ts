/** A JSON-RPC call. */
export interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** JSON text in parts. */
export type JsonParts = readonly (string | Buffer)[]

/** What a loopback node answers. */
export interface NodeAnswers {
  /** Makes the blocks up to `height` final. */
  finalize(height: number): void
  /** The member `result` or `error` of the response to a call. */
  member(call: Call): JsonParts
  /** The response of the HTTP API to a body with `value` (a txid) or `num` (a height). */
  api(body: ApiQuery): string
}

/** A request to the HTTP API. */
export interface ApiQuery {
  readonly value?: string
  readonly num?: number
}
