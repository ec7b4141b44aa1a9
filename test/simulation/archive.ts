import { archiveKey } from '../../src/worker/archive/archive-object.ts'
import { checkpointName } from '../../src/worker/archive/write.ts'
import { formatBase58 } from '../../src/worker/chain/address.ts'
import { createBucket, type SimulatedBucket } from './bucket.ts'
import { depositAddress, type Environment } from './environment.ts'
import type { Invocation, InvocationPorts } from './invocation.ts'
import { createNamespace, type ObjectClass, type ObjectNamespace } from './objects.ts'

/** The archive of a run: a bucket, and the objects that write to it. */
export interface SimulatedArchive {
  readonly bucket: SimulatedBucket
  /** The checkpoint in the bucket about so many lines. */
  readonly checkpointOf: (size: number) => string | undefined
  /** The variables of a deployment with the archive. */
  readonly variables: Readonly<Record<string, unknown>>
  /** Makes the class of the archive's object in one deployment; the first one is the right one. */
  deploy(create: ObjectClass['create']): ObjectNamespace
}

/** The longest time until another writer begins beside the one that works, or in its place. */
const besideMsMax = 20_000

/**
 * Makes the archive of a run, or null. It has random numbers and rates of its own. While faults
 * occur, a second writer begins again and again.
 */
export function createArchived(
  env: Environment,
  connect: (own: Environment, invocation: Invocation) => InvocationPorts,
): SimulatedArchive | null {
  const { scenario, archiving: random, scheduler } = env
  const { archive } = scenario
  if (archive === null) return null
  const rates = { ...scenario.rates, kill: archive.kill, database: archive.database }
  // All other members are those of `env`, its prototype.
  const own: Environment = Object.create(env, {
    random: { value: random },
    scenario: { value: { ...scenario, rates } },
  })
  let running: ObjectNamespace | null = null
  const startBeside = () => {
    if (env.phase === 'faults') running?.startBeside(archiveKey)
  }
  const bucket = createBucket(own, archive.trouble, () => {
    if (random.chance(archive.rivals)) scheduler.after(random.int(0, 500), startBeside)
  })
  const next = () => {
    startBeside()
    if (env.phase === 'faults') scheduler.after(random.int(1_000, besideMsMax), next)
  }
  scheduler.after(besideMsMax, next)
  return {
    bucket,
    checkpointOf: (size) => bucket.objects.get(checkpointName(formatBase58(depositAddress(0)), size)),
    get variables() {
      const seal = archive.sealed ? { SEAL_KEY: env.deployed.sealKey } : {}
      return { ARCHIVE: 'BUCKET', BUCKET: bucket.binding, ...seal }
    },
    deploy(create) {
      const objects = createNamespace(own, {
        name: 'archive',
        create,
        connect: (invocation) => connect(own, invocation),
      })
      running ??= objects
      return objects
    },
  }
}
