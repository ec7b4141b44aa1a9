// Loaded by Node before the program of a script in package.json (`node -r`). It ends the process
// with one sentence where the program could only fail with a stack: before `npm ci`, or on an old
// Node. It is CommonJS in plain JavaScript, so that every Node can read it.
const { existsSync } = require('node:fs')
const { join } = require('node:path')

/** The major version with which the scripts are tested, as in link-node.mjs. */
const neededMajor = 24

const isInstalled = existsSync(join(__dirname, '../../node_modules/hono'))
const why = !isInstalled
  ? 'Run "npm ci" first: it installs the packages, and the Node.js that the scripts need.'
  : Number.parseInt(process.versions.node, 10) < neededMajor
    ? `This is Node.js ${process.version}, and the scripts need ${neededMajor}: install it, or run "npm ci" without --omit=optional.`
    : null
if (why !== null) {
  process.stderr.write(`${why}\n`)
  process.exit(1)
}
