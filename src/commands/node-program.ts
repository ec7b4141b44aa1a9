import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from './tool-error.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)

/**
 * Throws a `ToolError` unless this command runs on the Node of package-lock.json or on that of the
 * machine, which is any outside of a folder `node_modules`. Otherwise a package could name its own
 * program `node` and read the typed secret (docs/decisions/0037-the-node-of-the-lock-file.md).
 * Commands that read a mnemonic call this first.
 */
export function requireKnownNode(program: string = process.execPath, project: string = root): void {
  const real = realpathSync(program)
  const [folder, ...path] = relative(realpathSync(project), real).split(sep)
  const ofPackage =
    folder === 'node_modules' && path.length === 3 && path[1] === 'bin' && isNodePackage(project, path[0])
  if (ofPackage || !real.split(sep).includes('node_modules')) return
  throw new ToolError(
    `this runs on ${real}, which is neither the Node.js of package-lock.json nor that of this machine`,
    `find out which package of ${dirname(real)} brought it before you type a mnemonic; then "npm ci" and "npm run" use the right one`,
  )
}

function isNodePackage(project: string, name: string | undefined): boolean {
  const { optionalDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>> // safe: package.json has this member
  }
  return name !== undefined && Object.hasOwn(optionalDependencies, name)
}
