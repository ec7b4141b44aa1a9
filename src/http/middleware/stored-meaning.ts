import type { MiddlewareHandler } from 'hono'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { notConfigured } from '../errors.ts'

/** Serves nothing while the stored data means something else than the configuration says. */
export function requireStoredMeaning(hasStoredMeaning: () => Promise<boolean>): MiddlewareHandler<Env> {
  return async (_, next) => ((await hasStoredMeaning()) ? next() : failure(notConfigured))
}
