import { env } from 'cloudflare:workers'
import type { ArchiveBucket } from '../../src/worker/archive/bucket.ts'
import { readSegment, type SegmentHead } from '../../src/worker/archive/segment.ts'
import { type RunningService, startService } from '../http/service.ts'

/** A line of an archive. */
export type Line = Readonly<Record<string, unknown>> & { readonly row: string }

/** Starts the service with an empty bucket. `bucket` changes calls of it. */
export async function startArchived(
  variables: Record<string, unknown> = {},
  bucket: Partial<ArchiveBucket> = {},
): Promise<RunningService> {
  await emptyBucket()
  return startService({ ARCHIVE: 'BUCKET', BUCKET: bucketWith(bucket), ...variables })
}

/** The bucket of the tests, some of whose methods do something else. */
function bucketWith(changes: Partial<ArchiveBucket>): ArchiveBucket {
  const real = env.ARCHIVE_BUCKET
  return {
    put: real.put.bind(real) as ArchiveBucket['put'],
    get: real.get.bind(real) as ArchiveBucket['get'],
    list: real.list.bind(real),
    ...changes,
  }
}

export async function emptyBucket(): Promise<void> {
  for (const name of await names()) await env.ARCHIVE_BUCKET.delete(name)
}

/** The names of all objects, in order. */
export async function names(prefix = ''): Promise<readonly string[]> {
  const { objects } = await env.ARCHIVE_BUCKET.list({ prefix })
  return objects.map(({ key }) => key)
}

/** Lets half a minute pass, and writes what is new. */
export async function archive(service: RunningService): Promise<void> {
  service.clock.seconds += 30
  await service.cron()
  await service.deliver()
}

/** An object of the bucket, which must exist. */
export async function textAt(name: string): Promise<string> {
  const object = await env.ARCHIVE_BUCKET.get(name)
  if (object === null) throw new Error(`no object ${name}`)
  return object.text()
}

/** All segments, in order. */
export async function segments(): Promise<
  readonly { name: string; text: string; head: SegmentHead; lines: readonly Line[] }[]
> {
  const found = (await names()).filter((name) => name.endsWith('.jsonl'))
  return Promise.all(
    found.map(async (name) => {
      const text = await textAt(name)
      const { head, lines } = readSegment(text)
      return { name, text, head, lines: lines.map((line) => JSON.parse(line) as Line) }
    }),
  )
}

/** The lines of all segments but their first ones, of one kind if it is given. */
export async function linesOf(row?: string): Promise<readonly Line[]> {
  const all = (await segments()).flatMap(({ lines }) => lines)
  return row === undefined ? all : all.filter((line) => line.row === row)
}

/** The row of the archive in the database; null if there is none. */
export const rowOf = ({ db }: RunningService) => db.prepare('SELECT * FROM archive').first()
