import type { ReadDatabase } from './database.ts'

/** A value of a parameter. A boolean is stored as 1 or 0. */
export type Value = string | number | boolean | null

/** A statement for a database, with the values of its parameters by name. */
export type Statement = (db: ReadDatabase, values?: Readonly<Record<string, Value>>) => D1PreparedStatement

/**
 * A statement with parameters such as `:uid`. D1 knows parameters by number only, so each name becomes a number, once.
 */
export function statement(sql: string): Statement {
  const names: string[] = []
  // A literal is matched too, so that no colon in it begins a name.
  const numbered = sql.replace(/'[^']*'|:([a-z]\w*)/gi, (match, name?: string) => {
    if (name === undefined) return match
    if (!names.includes(name)) names.push(name)
    return `?${names.indexOf(name) + 1}`
  })
  return (db, values = {}) =>
    db.prepare(numbered).bind(
      ...names.map((name) => {
        const value = values[name]
        if (value === undefined) throw new Error(`no value for :${name}`)
        return value
      }),
    )
}

/** Columns of the objects in a JSON list, each under its own name. */
export function members(...names: readonly string[]): string {
  return names.map((name) => `value ->> '${name}' AS ${name}`).join(', ')
}
