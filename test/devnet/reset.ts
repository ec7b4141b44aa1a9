/** `npm run devnet:reset`: deletes the local chain and the local database, which belong together. */
import { deletePair, isFree, readPorts, Trouble } from './project.ts'

try {
  const { face } = readPorts()
  if (!(await isFree(face))) throw new Trouble(`Something runs on port ${face}: end "npm start" first.`)
  deletePair()
  process.stdout.write('Deleted the local chain (.devnet) and the local database (.wrangler/state/v3/d1).\n')
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
