import * as z from 'zod/mini'
import { bookmarkCharsMax, bookmarkForm } from '../middleware/bookmark.ts'

/** What the document adds to a schema: an `id` makes it a component of that name. */
export const notes = z.registry<{ id?: string; description?: string }>()

/** An id or another whole number from 1. */
export const idSchema = (description: string) => z.int().check(z.minimum(1)).register(notes, { description })

/** A number of blocks, items or entries. */
export const countSchema = (description: string) => z.int().check(z.minimum(0)).register(notes, { description })

/** An amount in whole units. */
export const amountSchema = (description: string) => z.number().register(notes, { description })

/** A text, of this form where one is given. */
export const textSchema = (description: string, form?: RegExp) =>
  (form === undefined ? z.string() : z.string().check(z.regex(form))).register(notes, { description })

const successMsgSchema = () =>
  textSchema('`success`, optionally followed by a colon and a note for people.', /^success/)

/** The body of a success with data. */
export const successBody = <Data extends z.ZodMiniType>(id: string, data: Data) =>
  z.strictObject({ code: z.literal(200), msg: successMsgSchema(), data }).register(notes, { id })

/** The body of a success without data. */
export const successBodyWithoutData = (id: string) =>
  z.strictObject({ code: z.literal(200), msg: successMsgSchema() }).register(notes, { id })

const failureMembers = {
  code: z.int().check(z.minimum(400), z.maximum(599)).register(notes, { description: 'The HTTP status.' }),
  msg: textSchema('What is wrong, in one sentence.', /./),
}

/** The body of a failure. */
export const failureBody = z.strictObject(failureMembers).register(notes, { id: 'Failure' })

/** The body of a failure that can have data. */
export const failureBodyWithData = <Data extends z.ZodMiniType>(id: string, data: Data) =>
  z.strictObject({ ...failureMembers, data: z.optional(data) }).register(notes, { id })

/** The header `x-d1-bookmark`, in requests and in responses. */
export const bookmarkSchema = z.string().check(z.maxLength(bookmarkCharsMax), z.regex(bookmarkForm))
