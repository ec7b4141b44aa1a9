import type * as z from 'zod/mini'
import { readJsonBody, readOnlyMember } from './body.ts'
import { type Decider, type RequestContext, reading, writing } from './context.ts'
import { failure, type JsonMembers, refusal, success } from './envelope.ts'
import type { Problem } from './errors.ts'
import { withQuery } from './query.ts'
import type { Reads, ReadUseCase, WriteUseCase } from './use-cases.ts'

type Shape = Record<string, z.ZodMiniType>

/** Makes the handler of a GET route that runs this use case. */
export function handleRead<S extends Shape, Answer extends JsonMembers>(useCase: ReadUseCase<S, Answer>) {
  return withQuery(useCase.input, (c, input) => answerRead(c, useCase, input))
}

/** Runs a use case with parsed parameters, and answers with what it has read. */
export async function answerRead<Input, Answer extends JsonMembers>(
  c: RequestContext,
  { reads }: { readonly reads: Reads<Input, Answer> },
  input: Input,
): Promise<Response> {
  const found = await reading(c, (context) => reads(context, input))
  return found.ok ? success(found.value) : refusal(found.error)
}

/**
 * Makes the handler of a POST route that runs this use case. `senderOf` says in whose name, and
 * `toProblem` what a failure is over HTTP.
 */
export function handleWrite<By extends Decider, Answer extends JsonMembers, Failure>(
  { member, followUp, writes }: WriteUseCase<By, Answer, Failure>,
  senderOf: (c: RequestContext) => By,
  toProblem: (failure: Failure) => Problem,
) {
  return async (c: RequestContext): Promise<Response> => {
    const sent = member === null ? await readJsonBody(c.req.raw) : await readOnlyMember(c.req.raw, member)
    if (!sent.ok) return failure(sent.error)
    const written = await writing(c, followUp, (context) => writes(context, sent.value, senderOf(c)))
    return written.ok ? success(written.value) : failure(toProblem(written.error))
  }
}
