import type * as z from 'zod/mini'
import { summarySchema } from '../worker/schemas/summary.ts'
import type { WithAmounts } from '../worker/schemas/written.ts'
import type { Shape, ShapeOf } from './kit/read.ts'

// The shapes of answers, made of the schemas that the service checks its answers with. `build.ts`
// runs this file and puts the values that it exports into the pages, so browsers load neither zod
// nor the descriptions.

export const summaryShape = shapeOf(summarySchema())

function shapeOf<Schema extends z.ZodMiniType>(schema: Schema): ShapeOf<WithAmounts<z.output<Schema>, string>> {
  return { shape: describe(schema) }
}

function describe(schema: z.core.$ZodType): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod // safe: every schema of the library is one of these
  switch (def.type) {
    case 'object':
      return {
        members: Object.fromEntries(Object.entries(def.shape).map(([name, member]) => [name, describe(member)])),
      }
    case 'array':
      return { list: describe(def.element) }
    case 'nullable':
      return { orNull: describe(def.innerType) }
    case 'optional':
      return { orAbsent: describe(def.innerType) }
    case 'union':
      return { either: def.options.map(describe) }
    case 'number':
      return 'format' in def ? 'integer' : 'amount'
    case 'boolean':
      return 'flag'
    case 'literal':
      return typeof def.values[0] === 'number' ? 'integer' : 'text'
    case 'string':
    case 'enum':
      return 'text'
    default:
      throw new Error(`a page cannot read a schema of the type ${def.type}`)
  }
}
