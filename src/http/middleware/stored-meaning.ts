import type { MiddlewareHandler } from 'hono'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { notConfigured } from '../errors.ts'

/** Serves nothing while the configuration does not have the meaning of the stored data. */
export function requireStoredMeaning(hasStoredMeaning: () => Promise<boolean>): MiddlewareHandler<Env> {
  return async (_, next) => ((await hasStoredMeaning()) ? next() : failure(notConfigured))
}
