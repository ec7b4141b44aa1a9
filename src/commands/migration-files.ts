import { existsSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConfigurationSource } from './configuration.ts'

/**
 * The names of the migrations that wrangler applies to the database of a cell, in this order; empty
 * if the folder is missing.
 */
export function listMigrations({ databases, place, worker }: ConfigurationSource): readonly string[] {
  const bound = databases.find(({ binding }) => binding === place.binding)
  const folder = resolve(worker.folder, bound?.migrations_dir ?? 'migrations')
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
}

/** The number of the newest of these migrations, as `/health` shows it; 0 if there is none. */
export function newestNumber(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => Number.parseInt(name, 10)).filter(Number.isInteger))
}
