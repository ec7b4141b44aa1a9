import type * as z from 'zod/mini'
import { notes } from './docs.ts'
import type { JsonObject } from './for-generators.ts'

// Parts of the document that refer to its schemas.

/** A header or parameter: a text, optionally of a form. */
export const describedText = (description: string, form: JsonObject = {}) => ({
  description,
  schema: { type: 'string', ...form },
})

/** The name of a schema among the components. */
export const idOf = (schema: z.ZodMiniType) => notes.get(schema)?.id ?? ''
/** A reference to a schema. */
export const schemaOf = (schema: z.ZodMiniType) => ({ $ref: schemaUri(idOf(schema)) })
/** Where a schema of this name is. */
export const schemaUri = (id: string) => `#/components/schemas/${id}`
