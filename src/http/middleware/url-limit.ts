import type { MiddlewareHandler } from 'hono'
import type { Env } from '../context.ts'
import { failure } from '../envelope.ts'
import { urlCharsMax, urlTooLong } from '../errors.ts'

/** Refuses a URL that is longer than any valid one, before anything reads it. */
export const urlLimit: MiddlewareHandler<Env> = async (c, next) =>
  c.req.url.length > urlCharsMax ? failure(urlTooLong) : next()
