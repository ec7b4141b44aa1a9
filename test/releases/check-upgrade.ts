import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { act } from './acts.ts'
import { askAll } from './answers.ts'
import { compareAnswers } from './compare.ts'
import { type Deployment, openDatabase } from './deployment.ts'
import { type Change, type Fixture, fileOf, migrateFixture, readFixture } from './fixture.ts'
import type { KeptBundle } from './kept-bundle.ts'
import { type NodeStage, startNodeStage } from './node-stage.ts'
import { startRollout } from './rollout.ts'

/** The deployment with which everything is done that users, backends and people do. */
const acting = 'story'

export interface UpgradeOptions {
  /** The released version. */
  readonly version: string
  /** The bundle of the version that follows. */
  readonly script: string
  /** SQL beside the migrations that came since. */
  readonly further?: string
  /** Asks only one deployment, and nothing with parameters: for tests of the check itself. */
  readonly isShort?: boolean
}

/**
 * Upgrades the databases of a release. The version that follows must answer as the release did, but
 * for what its changelog names, and the release must go on over the migrated databases. Returns a
 * sentence for each fault.
 */
export async function checkUpgrade(options: UpgradeOptions): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
  try {
    const fixture = readFixture(options.version, folder)
    try {
      migrateFixture(fixture, folder, options.further)
    } catch (error) {
      return [`A database of ${options.version} cannot be migrated: ${error}`]
    }
    const faults: string[] = []
    for (const deployment of fixture.deployments) {
      for (const db of Object.values(deployment.databases)) db.close()
      if (options.isShort === true && deployment.name !== acting) continue
      faults.push(...(await checkDeployment(fixture, deployment, folder, options)))
    }
    return faults
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function checkDeployment(
  { version, bundle, answers, changes }: Fixture,
  deployment: Deployment,
  folder: string,
  { script, isShort = false }: UpgradeOptions,
): Promise<readonly string[]> {
  const { name } = deployment
  const before = (answers[name] ?? []).filter(({ path }) => !isShort || !path.includes('?'))
  let copies = 0
  const start = (as: string, code: string) => {
    copies += 1
    const own = `${name}-${copies}`
    const opened = Object.keys(deployment.databases).map((binding) => {
      copyFileSync(fileOf(folder, name, binding), fileOf(folder, own, binding))
      return [binding, openDatabase(deployment.nowMs, fileOf(folder, own, binding))] as const
    })
    return startNodeStage(as, code, deployment, Object.fromEntries(opened))
  }
  const compare = async (as: string, code: string, known: readonly Change[]) => {
    const stage = start(as, code)
    const now = await askAll(stage, before)
    return [...compareAnswers(before, now, known).map((fault) => `${as}, ${name}: ${fault}`), ...end(stage)]
  }
  const old = `${version} over the migrated database`
  return [
    ...(await compare('this version', script, changes)),
    ...(await compare(old, bundle.script, [])),
    ...(name === acting ? await actBy(start(old, bundle.script)) : []),
    ...(name === acting ? await actBy(start('this version', script)) : []),
  ]
}

async function actBy(stage: NodeStage): Promise<readonly string[]> {
  const faults = await act(stage)
  return [...faults, ...end(stage)]
}

/** Ends a stage; returns the errors that it has logged, besides alarms. */
function end(stage: NodeStage): readonly string[] {
  stage.worker.stop()
  return stage.errors
    .filter((line) => line.includes('"event"'))
    .map((line) => `${stage.name} logs ${line.slice(0, 400)}`)
}

/** Migrations such as every version may have: they only add. */
const additions = [
  'ALTER TABLE payout ADD COLUMN label TEXT',
  'CREATE TABLE label (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT',
  'CREATE TRIGGER payout_has_a_label AFTER INSERT ON payout BEGIN INSERT INTO label (name) VALUES (NEW.osn); END',
]

/** What the acts cause on purpose. */
const expected = /"alarm":"payout-stuck"/

/** Lists of all kinds, which do not depend on the time. */
const listed =
  /^\/(wallet\/(list|flow\/list)|tron\/(deposits|orders|payouts)|ledger\/(entries|events|deposits|orders|payouts))$/

/**
 * Rolls an upgrade out in workerd, while both versions serve requests: the database is migrated,
 * then the Durable Objects become those of this version, those of the release again, and those of
 * this version again. Returns a sentence for each fault.
 */
export async function rollOut(version: string, current: KeptBundle): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-'))
  const { deployments, bundle, answers, changes } = readFixture(version, folder)
  for (const { databases } of deployments) for (const db of Object.values(databases)) db.close()
  const deployment = deployments.find(({ name }) => name === acting)
  if (deployment === undefined) throw new Error(`test/releases/${version} has no ${acting}`)
  const next = 'this version'
  const rollout = await startRollout(deployment, { [version]: bundle, [next]: current }, fileOf(folder, acting, 'DB'))
  const [before, after] = rollout.stages
  if (before === undefined || after === undefined) throw new Error('there are two Workers')
  try {
    const faults: string[] = []
    await rollout.migrate(additions)
    faults.push(...(await act(before)), ...(await act(after)))
    await rollout.moveObjects(next)
    faults.push(...(await act(before)), ...(await act(after)))
    await rollout.moveObjects(version)
    faults.push(...(await act(before)))
    await rollout.moveObjects(next)
    faults.push(...(await act(after)))
    const lists = (answers[acting] ?? []).filter(({ path }) => listed.test(path))
    const shown = await askAll(before, lists)
    const differing = compareAnswers(shown, await askAll(after, lists), changes)
    const wrong = await rollout.select(`SELECT uid, cuy, balance FROM wallet
      WHERE balance <> (SELECT sum(amount) FROM stored_flow WHERE wallet_id = wallet.id)`)
    return [
      ...faults,
      ...differing.map((fault) => `${next}, beside ${version}: ${fault}`),
      ...wrong.map((row) => `a wallet is not the sum of its entries: ${JSON.stringify(row)}`),
      ...rollout.errors.filter((line) => !expected.test(line)).map((line) => `a log has ${line.slice(0, 400)}`),
    ]
  } finally {
    await rollout.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
