/**
 * `npm run release` writes what the version in package.json keeps for the tests of later ones: the
 * hashes of its migrations, and `test/releases/<version>`. It is run once for each release.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { releaseMigrations } from '../../migrations/released.ts'
import { printLine, root } from '../support/project.ts'
import { type Answer, askAll, listRequests } from './answers.ts'
import { copyDatabase, openDatabase } from './deployment.ts'
import { makeDeployments } from './deployments.ts'
import { writeFixture } from './fixture.ts'
import { bundleCurrent } from './kept-bundle.ts'
import { startNodeStage } from './node-stage.ts'
import { findMissing } from './states.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string } // safe: it has one
const bundle = await bundleCurrent()
const deployments = await makeDeployments()
const missing = findMissing(deployments.flatMap(({ databases }) => Object.values(databases)))
if (missing.length > 0)
  throw new Error(`The deployments lack ${missing.join(', ')}: let test/releases/story.ts make it.`)
const folder = mkdtempSync(join(tmpdir(), 'release-'))
const answers: Record<string, readonly Answer[]> = {}
for (const deployment of deployments) {
  const { name, databases } = deployment
  const copies = Object.entries(databases).map(([binding, db]) => {
    const file = join(folder, `${name}.${binding}`)
    copyDatabase(db, file).close()
    return [binding, openDatabase(deployment.nowMs, file)] as const
  })
  const stage = startNodeStage(version, bundle.script, deployment, Object.fromEntries(copies))
  answers[name] = await askAll(stage, listRequests(deployment))
  if (stage.errors.length > 0) throw new Error(`${name}: ${stage.errors.join('\n')}`)
  printLine(`${name}: ${answers[name].length} answers`)
}
writeFixture({ version, bundle, deployments, answers })
releaseMigrations()
rmSync(folder, { recursive: true })
printLine(`test/releases/${version} and migrations/released.txt are written: commit them.`)
process.exit() // the simulation leaves timers
