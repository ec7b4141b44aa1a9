import type * as z from 'zod/mini'
import { notes } from '../../schemas/parts.ts'
import type { JsonObject } from './for-generators.ts'

// How other parts of the OpenAPI document name its schemas.

/**
 * A header or parameter whose value is text. `form` adds members to its schema, such as `pattern`.
 */
export const describedText = (description: string, form: JsonObject = {}) => ({
  description,
  schema: { type: 'string', ...form },
})

/** The name of a schema among the components; empty if it is none of them. */
export const idOf = (schema: z.ZodMiniType) => notes.get(schema)?.id ?? ''
/** A reference to a schema, which must be a component. */
export const schemaOf = (schema: z.ZodMiniType) => ({ $ref: schemaUri(idOf(schema)) })
/** Where the document has the component of this name. */
export const schemaUri = (id: string) => `#/components/schemas/${id}`
