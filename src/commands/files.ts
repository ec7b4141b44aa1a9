import { open, readFile } from 'node:fs/promises'
import { ToolError } from './tool-error.ts'

/**
 * The largest file that is read, in bytes. Usual files are far smaller: a plan of two hundred
 * addresses takes 500 KB.
 */
const fileBytesMax = 64 * 1024 * 1024

/**
 * Reads the text of a file that the person named. Throws a `ToolError` if that is not possible, or
 * if the file is too large.
 */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => null)
  if (bytes === null || bytes.length > fileBytesMax)
    throw new ToolError(`${path} cannot be read`, 'name a file that this user may read')
  return bytes.toString('utf8')
}

/**
 * Writes a value as JSON to a new file that only its owner can read. It never replaces a file,
 * which may be a plan that is being sent.
 */
export async function writeNewFile(path: string, value: object): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch(() => null)
  if (file === null) {
    throw new ToolError(
      `${path} cannot be created: it exists already, or the folder is not writable`,
      'name another file with --out',
    )
  }
  try {
    await file.writeFile(`${JSON.stringify(value, null, 1)}\n`)
  } finally {
    await file.close()
  }
}
