import { parseArgs } from 'node:util'
import { deriveAddress, parseExtendedPublicKey } from '../../worker/addresses/derive.ts'
import type { ConfigurationSource } from '../configuration.ts'
import { type DatabaseRow, queryDatabase } from '../database.ts'
import { readEnvironment } from '../operate/command.ts'
import type { Options, PersonParts } from '../operate/options.ts'
import { urlOf } from '../operate/people.ts'
import { adviseRescan } from '../operate/reserve.ts'
import { openSecret } from '../operate/secret.ts'
import { ask } from '../operate/service.ts'
import { pathIn } from '../place.ts'
import { type QueryRows, rowsOf } from '../reading-database.ts'
import { runTool } from '../run-tool.ts'
import { openTarget } from '../target.ts'
import { OptionError, ToolError } from '../tool-error.ts'
import { type CellFiles, listArchives } from './archive-files.ts'
import { createVerifyProgress } from './command.ts'
import { type ArchivePosition, lostRanges, readLost } from './lost-lines.ts'
import { findMissing, type MissingRow } from './missing.ts'
import { auditOptionNames, missingOptions } from './options.ts'
import { putBack } from './put-back.ts'
import { readSeals } from './seals.ts'
import { isFault } from './segment.ts'
import { type CellReport, demandAllKnown, verifyCell } from './verify.ts'

const usage = `npm run audit -- missing <folder> --production | --env <name> | --local (this machine)
    [--cell <number>] [--verifier <key>]… [--checkpoint <file>]… [--put-back]
  missing    names what the database, a restored copy, lacks of its archive
    --put-back  puts back what the rules still allow, through the service at --service <URL> (on this machine that
                of "npm start") with BACKEND_JWT_SECRET: of the file that the doctor reads, of another one
                (--secret <file>), or typed (--stdin: from the input)`

/** The streams of a process, of which a typed secret needs the input. */
interface MissingStreams {
  readonly stdin: PersonParts['streams']['input']
  readonly stdout: PersonParts['streams']['output']
  readonly stderr: PersonParts['streams']['questions']
}

/**
 * Runs `npm run audit -- missing`: names what a database lacks of its archive, and puts it back if
 * asked to. Returns the exit code: 1 while something is missing.
 */
export function runMissing(
  args: readonly string[],
  streams: MissingStreams,
  { clock }: Pick<PersonParts, 'clock'>,
): Promise<number> {
  return runTool({ usage, options: auditOptionNames }, args, streams, async () => {
    const parsed = parseArgs({ args: [...args], options: missingOptions, allowPositionals: true })
    const { verifier, checkpoint, local, production, env, cell, 'put-back': isAsked, ...options } = parsed.values
    const [, folder, ...others] = parsed.positionals
    if (folder === undefined || others.length > 0) throw new OptionError('which folder?')
    const environment = readEnvironment({ env, production, local })
    const print = (line: string) => streams.stdout.write(`${line}\n`)
    const source = openTarget(environment, cell, print)
    const seals = readSeals(verifier, checkpoint)
    const verify = (files: CellFiles) => {
      const found = verifyCell(files, seals, createVerifyProgress(streams))
      if (!isFault(found)) return found
      const place = `${found.file}${found.line === null ? '' : `, line ${found.line}`}`
      throw new ToolError(
        `${place}: ${found.why}`,
        'use an archive in which "npm run audit -- verify" finds nothing wrong',
      )
    }
    return findAndPutBack(listArchives(folder), source, { streams, clock, options, verify, isAsked })
  })
}

interface MissingParts extends Pick<PersonParts, 'clock'> {
  readonly streams: MissingStreams
  /** The options that name the service and its secret. */
  readonly options: Options
  /** Whether `--put-back` was given. */
  readonly isAsked: boolean
  /** Verifies the archive of a cell, or throws a `ToolError`. */
  readonly verify: (files: CellFiles) => CellReport
}

async function findAndPutBack(
  cells: readonly CellFiles[],
  source: ConfigurationSource,
  parts: MissingParts,
): Promise<number> {
  const { stdout, stdin, stderr } = parts.streams
  const print = (line: string) => stdout.write(`${line}\n`)
  const read = rowsOf(source.place)
  const stored = await readStored(read)
  const files = cells.find(({ name }) => name === stored.folder)
  if (files === undefined) {
    const next =
      'name the folder with the archive of this database, or the right place (--cell, where there are several)'
    throw new ToolError(
      `the key of this database begins with ${stored.folder}, and the folder has no such archive`,
      next,
    )
  }
  const report = parts.verify(files)
  demandAllKnown(report)
  const ranges = lostRanges(report, stored.archive)
  for (const { from, to } of ranges) print(`The archive has lines ${from} to ${to}, which a restore may have lost.`)
  const lost = readLost(files.segments, ranges)
  const missing = await findMissing(read, lost)
  if (!parts.isAsked || missing.length === 0) return describe(missing, print)
  checkAddresses(missing, source)
  const streams = { input: stdin, output: stdout, questions: stderr }
  const sign = await openSecret(parts.options, source.values, { streams, clock: parts.clock })
  const url = urlOf(parts.options, source.place)
  await putBack(missing, {
    run: (sql) => queryDatabase(source.place, sql),
    ask: async (name, scope, path, body) => ask(url + pathIn(source.place, path), await sign(name, scope), body),
    scales: stored.scales,
    print,
  })
  const rest = await findMissing(read, lost)
  // an order that is there again, and not paid yet, is missing in another way
  const keyOf = ({ kind, key, way }: MissingRow) => JSON.stringify([kind, key, way])
  const left = new Set(rest.map(keyOf))
  const back = missing.filter((row) => !left.has(keyOf(row)))
  for (const { text } of back) print(`  put back: ${text}`)
  const heights = back.flatMap((row) =>
    row.kind === 'address' ? (row as MissingRow<'address'>).line.issued_height : [],
  )
  if (heights.length > 0) {
    for (const line of adviseRescan(source.place, Math.min(...heights), stored.finalized)) print(line)
  }
  return describe(rest, print)
}

function describe(missing: readonly MissingRow[], print: (line: string) => void): number {
  for (const { number, text, way } of missing) {
    const how = way.by === 'command' ? '--put-back does it' : way.why
    print(`  missing, line ${number}: ${text} (${how})`)
  }
  print(missing.length === 0 ? 'Nothing is missing.' : `${missing.length} are missing.`)
  return missing.length === 0 ? 0 : 1
}

interface StoredCopy {
  /** The first address of the key: the name of the archive's folder. */
  readonly folder: string
  readonly archive: ArchivePosition | null
  readonly scales: ReadonlyMap<number, number>
  readonly finalized: number
}

async function readStored(read: QueryRows): Promise<StoredCopy> {
  const [settings, archives, currencies, scans] = (await read([
    `SELECT value FROM stored_setting WHERE name = 'TRON_XPUB'`,
    'SELECT epoch, lines, common FROM archive',
    'SELECT cuy, scale FROM stored_currency',
    'SELECT finalized FROM scan',
  ])) as readonly (readonly DatabaseRow[])[]
  const [folder = ''] = String(settings?.[0]?.value ?? '').split(' ')
  if (folder === '') {
    throw new ToolError('the database has no key: it is no copy of one', 'restore a copy first, or name another place')
  }
  const row = archives?.[0]
  return {
    folder,
    archive:
      row === undefined
        ? null
        : {
            epoch: Number(row.epoch),
            lines: Number(row.lines),
            common: row.common === null ? null : Number(row.common),
          },
    scales: new Map((currencies ?? []).map(({ cuy, scale }) => [Number(cuy), Number(scale)])),
    finalized: Number(scans?.[0]?.finalized ?? 0),
  }
}

/** Refuses addresses that are not those of the configured key: they could be somebody else's. */
function checkAddresses(missing: readonly MissingRow[], { values, varsFile }: ConfigurationSource): void {
  const key = parseExtendedPublicKey(String(values.TRON_XPUB ?? ''))
  if (!key.ok) throw new ToolError(`TRON_XPUB: ${key.error}`, `put the key of this database into ${varsFile}`)
  for (const row of missing) {
    if (row.kind !== 'address') continue
    const { id, address } = (row as MissingRow<'address'>).line
    if (deriveAddress(key.value, id - 1) !== address) {
      const next = 'set TRON_XPUB to the key of this database; if it is, the archive is not its own'
      throw new ToolError(`TRON_XPUB does not derive the address of line ${row.number}`, next)
    }
  }
}
