import * as z from 'zod/mini'
import { issuedAddress } from '../worker/schemas/address.ts'
import { offerMembers } from '../worker/schemas/currency.ts'
import { deposit, ownedDeposit } from '../worker/schemas/deposit.ts'
import {
  flow,
  postedFlow,
  postedStatementFlow,
  statementFlow,
  statementMembers,
  wallet,
} from '../worker/schemas/entry.ts'
import { eventSchema } from '../worker/schemas/event.ts'
import { finding } from '../worker/schemas/finding.ts'
import { orderSchema, ownOrderSchema } from '../worker/schemas/order.ts'
import { ownPayoutSchema, payoutSchema } from '../worker/schemas/payout.ts'
import { searchMembers } from '../worker/schemas/search.ts'
import { summarySchema } from '../worker/schemas/summary.ts'
import type { JsonAmount } from '../worker/schemas/written.ts'
import type { Shape, ShapeOf } from './kit/read.ts'

// The shapes of answers, made of the schemas that the service checks its answers with. `build.ts`
// runs this file and puts the values that it exports into the pages, so browsers load neither zod
// nor the descriptions.

export const summaryShape = shapeOf(summarySchema())
export const ownedDepositsShape = shapeOf(listOf(ownedDeposit()))
export const postedEntriesShape = shapeOf(listOf(postedFlow()))
export const eventsShape = shapeOf(listOf(eventSchema()))
export const payoutsShape = shapeOf(listOf(payoutSchema()))
export const ordersShape = shapeOf(listOf(orderSchema()))
export const walletsShape = shapeOf(listOf(wallet()))
export const addressesShape = shapeOf(listOf(issuedAddress()))
export const searchShape = shapeOf(z.strictObject(searchMembers()))
export const findingShape = shapeOf(finding())
export const postedStatementShape = shapeOf(z.strictObject(statementMembers(postedStatementFlow)))
export const offerShape = shapeOf(z.strictObject(offerMembers()))
export const depositsShape = shapeOf(listOf(deposit()))
export const entriesShape = shapeOf(listOf(flow()))
export const statementShape = shapeOf(z.strictObject(statementMembers(statementFlow)))
export const ownOrdersShape = shapeOf(listOf(ownOrderSchema()))
export const ownPayoutsShape = shapeOf(listOf(ownPayoutSchema()))

function listOf<Item extends z.ZodMiniType>(item: Item) {
  return z.strictObject({ list: z.array(item), count: z.int() })
}

function shapeOf<Schema extends z.ZodMiniType>(schema: Schema): ShapeOf<Read<z.output<Schema>>> {
  return { shape: describe(schema) }
}

/**
 * What a page reads of `Data`. An amount is the text of its digits. A word is any text, because a
 * newer service can have further ones. A member that may be absent is null. Of a union of objects
 * there are the members of all of them.
 */
type Read<Data> = ReadValue<Data> | ReadObject<ObjectIn<Data>>
type ReadValue<Data> = Data extends JsonAmount | string
  ? string
  : Data extends undefined
    ? null
    : Data extends readonly (infer Item)[]
      ? readonly Read<Item>[]
      : Data extends object
        ? never
        : Data
type ObjectIn<Data> = Data extends JsonAmount | readonly unknown[] ? never : Extract<Data, object>
type ReadObject<Objects> = [Objects] extends [never]
  ? never
  : { readonly [Name in NameIn<Objects>]: Read<MemberOf<Objects, Name>> }
type NameIn<Objects> = Objects extends unknown ? keyof Objects : never
type MemberOf<Objects, Name> = Objects extends unknown
  ? Name extends keyof Objects
    ? Objects[Name]
    : undefined
  : never

function describe(schema: z.core.$ZodType): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod // safe: every schema of the library is one of these
  switch (def.type) {
    case 'object':
      return { members: Object.fromEntries(Object.entries(def.shape).map(([name, one]) => [name, describe(one)])) }
    case 'array':
      return { list: describe(def.element) }
    case 'nullable':
    case 'optional':
      return { orNull: describe(def.innerType) }
    case 'union':
      return oneOf(def.options.map(describe))
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

/** The shape of a value that has one of these shapes. */
function oneOf(shapes: readonly Shape[]): Shape {
  const [first, ...others] = [...new Map(shapes.map((shape) => [JSON.stringify(shape), shape])).values()]
  if (first !== undefined && others.length === 0) return first
  const objects = shapes.flatMap((shape) => (typeof shape !== 'string' && 'members' in shape ? [shape.members] : []))
  if (objects.length < shapes.length) return { either: shapes }
  const names = new Set(objects.flatMap((members) => Object.keys(members)))
  return { members: Object.fromEntries([...names].map((name) => [name, memberOf(objects, name)])) }
}

function memberOf(objects: readonly Readonly<Record<string, Shape>>[], name: string): Shape {
  const shapes = objects.map((members) => members[name] ?? null)
  const mayLack = (shape: Shape | null) => shape === null || (typeof shape !== 'string' && 'orNull' in shape)
  const present = shapes.filter((shape) => shape !== null)
  const shape = oneOf(present.map((one) => (typeof one !== 'string' && 'orNull' in one ? one.orNull : one)))
  return shapes.some(mayLack) ? { orNull: shape } : shape
}
