/** `npm run devnet:reset`: deletes the local chain and the local database, which belong together. */
import { printLine, UserError } from '../support/project.ts'
import { deleteLocalData, isFree, readPorts } from './local.ts'

try {
  const { tron } = readPorts()
  if (!(await isFree(tron))) throw new UserError(`A program is running on port ${tron}: stop "npm start" first.`)
  deleteLocalData()
  printLine('Deleted the local chain (.devnet) and the local database (.wrangler/state/v3/d1).')
} catch (error) {
  printLine(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
