/** What a table has under a name; undefined for a name that it has not, such as that of a method of objects. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string | number): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
