/** The value of a name in a table; undefined for a name that is not its own, such as that of an object's method. */
export function lookUp<Value>(table: Readonly<Record<string, Value>>, name: string | number): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
