import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from './tool-error.ts'

const root = fileURLToPath(new URL('../..', import.meta.url).href)

/**
 * Stops unless this command is run by the Node of package-lock.json or that of the machine. A package could name its own program `node`, which would then read
 * the typed secret. The machine's Node is any outside of `node_modules`, because a project's packages bring none
 * (docs/decisions/0037-the-node-of-the-lock-file.md). Commands that read a mnemonic call this first.
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
    readonly optionalDependencies: Readonly<Record<string, string>> // package.json has this member
  }
  return name !== undefined && Object.hasOwn(optionalDependencies, name)
}
