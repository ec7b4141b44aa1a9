import type { CommandPlatform } from '../node-pool.ts'
import type { TargetReader } from '../target-apart.ts'
import type { TerminalStreams } from './terminal.ts'

/** The streams of a process, or those of a test. */
export interface CommandStreams {
  readonly stdin: TerminalStreams['input']
  readonly stdout: TerminalStreams['output']
  readonly stderr: TerminalStreams['questions']
}

/** The parts of this machine that a command uses beside its streams. Its `start.ts` passes those of the machine, so that tests can pass others. */
export interface CommandParts extends CommandPlatform {
  /** From its call on, the first Ctrl-C aborts the returned signal instead of ending the process. A command that sends requests calls it. */
  readonly stopsInOrder: () => AbortSignal
  /** Reads the configuration for a command that reads a mnemonic: `collect -- sign`, `payout -- run` and `payout -- sign`. */
  readonly readTarget: TargetReader
}
