/**
 * The value of a name in a table; undefined if the table lacks it, also for names that every object
 * has, such as `toString`.
 */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string | number): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
