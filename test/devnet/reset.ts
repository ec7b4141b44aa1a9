/**
 * `npm run devnet:reset`: deletes the local chain and the local database, which belong together.
 */
import { printLine } from '../support/project.ts'
import { dataFolders, deleteLocalData } from './local.ts'
import { lockFolder } from './lock.ts'

try {
  // A lock that is held stops this command. It is released before the files are deleted, because
  // Windows deletes no open file.
  for (const lock of dataFolders().map(lockFolder)) lock.release()
  deleteLocalData()
  printLine('Deleted the local chain (.devnet) and the local database (.wrangler/state/v3/d1).')
} catch (error) {
  printLine(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
