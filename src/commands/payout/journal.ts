import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, realpathSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod/mini'
import { parseJson } from '../../worker/common/result.ts'
import type { UnixMs } from '../../worker/common/time.ts'
import { ToolError, type ToolRefusal } from '../tool-error.ts'
import { contentShape, headSchema, naturalNumber, type PayoutKey, textOfKey, txidText } from './payout.ts'

const format = 'tron-wallet-service/payout-journal'
const headerSchema = z.strictObject({
  format: z.literal(format),
  version: z.literal(1),
  chainId: z.string(),
  address: z.string(),
  at: naturalNumber,
})
const entrySchema = z.strictObject({
  /**
   * When the transaction was signed, in milliseconds since 1970. It is the transaction's timestamp,
   * and later than `at` in every line before.
   */
  at: naturalNumber,
  /** The payout as the service showed it at the time of signing. */
  ...contentShape,
  txid: txidText,
  /**
   * Milliseconds since 1970. A block whose parent has this time or a later one cannot contain the
   * transaction.
   */
  expiration: naturalNumber,
  /** The reference block of the transaction, which was final. */
  head: headSchema,
  /** The whole signed message, in hex digits. */
  transaction: z.string().check(z.regex(/^([0-9a-f]{2})+$/)),
})

/** A line of the journal: a signed transaction and its payout. */
export type JournalEntry = z.infer<typeof entrySchema>

/** The chain and address to which a journal belongs. */
export interface JournalOwner {
  readonly chainId: string
  readonly address: string
}

/**
 * The file with everything that a signer has ever signed: one line of JSON for each transaction,
 * and lines are only appended. A line is on the disk once `append` has returned. Only one process
 * can have a journal open.
 */
export interface Journal {
  readonly startedAt: UnixMs
  readonly wasCut: boolean
  /** In the order of signing. */
  readonly entries: readonly JournalEntry[]
  /** The transactions of a payout, in the order of signing. */
  of(key: PayoutKey): readonly JournalEntry[]
  append(entry: JournalEntry): void
  close(): void
}

/** Creates a journal at `path`, where no file may exist. */
export function createJournal(path: string, owner: JournalOwner, at: UnixMs): void {
  const file = attempt(() => openSync(path, 'wx', 0o600), {
    why: `${path} cannot be created: it exists already, or its folder does not`,
    next: 'leave --new-journal out if there is one, and make the folder otherwise',
  })
  writeAll(file, firstLine(owner, at))
  closeSync(file)
  if (process.platform === 'win32') return // Windows cannot open a folder
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder) // otherwise a power failure may lose the name of the file
  closeSync(folder)
}

/** The first line of a journal, with its line feed. `at` is when the journal was begun. */
export function firstLine({ chainId, address }: JournalOwner, at: UnixMs): string {
  return `${JSON.stringify({ format, version: 1, chainId, address, at })}\n`
}

/**
 * Opens a journal. If a power failure has cut off its last line, the beginning of that line is
 * removed (`wasCut`), because its transaction has never left this machine. Other damage, a missing
 * file, and a journal that another process has open throw a `ToolError`.
 */
export function openJournal(path: string, owner: JournalOwner): Journal {
  const found = attempt(() => realpathSync(path), {
    why: `there is no journal at ${path}`,
    next: 'find it: without it what was signed could be signed again. Only the first time, --new-journal makes one',
  })
  const lock = lockBeside(found)
  const file = openSync(found, 'a+')
  const close = () => {
    closeSync(file)
    lock.close()
  }
  try {
    return readJournal(path, owner, { ...readLines(file), append: (text) => writeAll(file, text), close })
  } catch (error) {
    close()
    throw error
  }
}

/** The file of a journal: its complete lines, and a function to append to it. */
export interface JournalFile {
  readonly lines: readonly string[]
  readonly wasCut: boolean
  /** Returns once the text is on the disk. */
  append(text: string): void
  close(): void
}

/** Parses the journal in a file. Damage throws a `ToolError`. */
export function readJournal(path: string, owner: JournalOwner, { lines, wasCut, append, close }: JournalFile): Journal {
  const damaged = (line: number) =>
    new ToolError(`${path} is damaged at line ${line}`, 'do what docs/guides/payouts.md says, "The journal"')
  const header = headerSchema.safeParse(parseJson(lines[0] ?? ''))
  if (!header.success) throw damaged(1)
  const { chainId, address, at: startedAt } = header.data
  if (chainId !== owner.chainId || address !== owner.address) {
    throw new ToolError(
      `${path} is the journal of ${address} on chain ${chainId}, not of ${owner.address} on ${owner.chainId}`,
      'name the journal of this address with --journal, or the right deployment',
    )
  }
  const entries: JournalEntry[] = []
  const byKey = new Map<string, JournalEntry[]>()
  const remember = (entry: JournalEntry) => {
    entries.push(entry)
    byKey.set(textOfKey(entry), [...(byKey.get(textOfKey(entry)) ?? []), entry])
  }
  for (const [i, line] of lines.entries()) {
    if (i === 0) continue
    const entry = entrySchema.safeParse(parseJson(line))
    if (!entry.success) throw damaged(i + 1)
    if (entry.data.at <= (entries.at(-1)?.at ?? 0)) {
      throw new ToolError(
        `the lines of ${path} are not in the order in which they were signed, at line ${i + 1}`,
        'put them in the order of "at", each once: what is signed in a day is counted from the end',
      )
    }
    remember(entry.data)
  }
  return {
    startedAt: startedAt as UnixMs, // safe: milliseconds since 1970
    wasCut,
    entries,
    of: (key) => byKey.get(textOfKey(key)) ?? [],
    append(entry) {
      append(`${JSON.stringify(entry)}\n`)
      remember(entry)
    },
    close,
  }
}

/**
 * Locks a journal with SQLite, because the operating system releases such a lock however the
 * process ends.
 */
function lockBeside(path: string): DatabaseSync {
  const lock = new DatabaseSync(`${path}.lock`)
  attempt(() => lock.exec('BEGIN EXCLUSIVE'), {
    why: `another process uses ${path}`,
    next: 'end the other signer first: a journal has one',
  })
  return lock
}

const chunkBytes = 1024 * 1024

/** Reads the lines of a file. All characters of a journal are ASCII, one byte each. */
function readLines(file: number): { readonly lines: readonly string[]; readonly wasCut: boolean } {
  const lines: string[] = []
  const chunk = Buffer.alloc(chunkBytes)
  let [rest, size] = ['', 0]
  for (
    let read = readSync(file, chunk, 0, chunkBytes, 0);
    read > 0;
    read = readSync(file, chunk, 0, chunkBytes, size)
  ) {
    size += read
    const parts = (rest + chunk.latin1Slice(0, read)).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  }
  if (rest === '') return { lines, wasCut: false }
  if (entrySchema.safeParse(parseJson(rest)).success) {
    writeAll(file, '\n') // the entry is whole, so only an editor can have removed its line feed
    return { lines: [...lines, rest], wasCut: false }
  }
  ftruncateSync(file, size - rest.length)
  fsyncSync(file)
  return { lines, wasCut: true }
}

/**
 * Returns once the text is on the disk. If it throws, the file may end in a part of the text, which
 * the next `openJournal` removes.
 */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  const write = () => {
    for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    fsyncSync(file)
  }
  attempt(write, {
    why: 'the journal cannot be written: nothing was handed in that it does not have',
    next: 'look at its disk, then run it again',
  })
}

function attempt<T>(act: () => T, { why, next }: ToolRefusal): T {
  try {
    return act()
  } catch {
    throw new ToolError(why, next)
  }
}
