import type * as z from 'zod/mini'
import { parseParameters, readParameters } from '../../src/worker/http/query.ts'
import { twoCurrencies } from './currencies.ts'

/** Parses a query string as a route with this schema does, where two currencies are configured. */
export const parseUrl = <S extends Record<string, z.ZodMiniType>>(schema: z.ZodMiniObject<S>, query: string) =>
  parseParameters(schema, readParameters(schema, `https://wallet.example/x${query}`), twoCurrencies)
