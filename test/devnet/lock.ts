import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { UserError } from '../support/project.ts'

/** A held lock. It ends with the process that holds it, however that process ends. */
export interface FolderLock {
  release(): void
}

/**
 * Takes the lock of a folder for this process, and makes the folder if it is missing. Throws a
 * `UserError` that names the process that holds the lock, if another one does. SQLite holds the
 * lock, because the operating system releases such a lock however the process ends.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true })
  const lock = new DatabaseSync(`${folder}lock`)
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    const holder = readFileSync(`${folder}lock.pid`, 'utf8')
    throw new UserError(`npm start runs already in this folder, as process ${holder}: stop it first.`)
  }
  writeFileSync(`${folder}lock.pid`, `${process.pid}`)
  return { release: () => lock.close() }
}
