/**
 * Runs at the end of `npm ci`, on any Node from 20: makes the Node of package-lock.json the one
 * that `npm run` finds first, `node_modules/.bin/node`. npm 11 has linked it already. npm 10
 * removes that link together with those of the packages for other machines, which have the same
 * name (decisions/0037-the-node-of-the-lock-file.md).
 */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The major version with which the scripts are tested. */
const neededMajor = 24

const root = new URL('../../', import.meta.url)
const readJson = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))
const names = Object.keys(readJson('package.json').optionalDependencies)
const installed = names.find((name) => existsSync(new URL(`node_modules/${name}/package.json`, root)))

if (installed !== undefined) {
  const program = `../${installed}/${readJson(`node_modules/${installed}/package.json`).bin.node}`
  const link = fileURLToPath(new URL('node_modules/.bin/node', root))
  if (process.platform === 'win32') {
    writeFileSync(`${link}.cmd`, `@"%~dp0${program.replaceAll('/', '\\')}" %*\r\n`)
  } else {
    rmSync(link, { force: true })
    symlinkSync(program, link)
  }
} else if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  process.stderr.write(
    `No Node.js for ${process.platform} ${process.arch} was installed: the scripts use that of this machine, ` +
      `${process.version}, and need ${neededMajor}. Install Node.js ${neededMajor}, or run "npm ci" without --omit=optional.\n`,
  )
}
