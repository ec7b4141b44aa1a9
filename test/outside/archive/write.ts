/**
 * `node test/outside/archive/write.ts <folder>`: writes an archive as the service does, and prints
 * the key that verifies it.
 */
import { writeRealArchive } from '../../commands/audit/real-archive.ts'

const [, , folder = ''] = process.argv
process.stdout.write(`${await writeRealArchive(folder, 12)}\n`)
