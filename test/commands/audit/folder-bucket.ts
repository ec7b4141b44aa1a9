import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bucket } from '../../../src/worker/archive/bucket.ts'

/** A bucket that is a folder. */
export function folderBucket(folder: string): Bucket {
  const pathOf = (name: string) => join(folder, name)
  return {
    putNew: async (name, text) => {
      if (existsSync(pathOf(name))) return false
      mkdirSync(dirname(pathOf(name)), { recursive: true })
      writeFileSync(pathOf(name), text)
      return true
    },
    get: async (name) => (existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : null),
    nextName: async (prefix, after) =>
      readdirSync(pathOf(prefix))
        .map((name) => prefix + name)
        .sort()
        .find((name) => name > after) ?? null,
  }
}
