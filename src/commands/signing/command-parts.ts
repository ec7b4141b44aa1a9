import type { CommandPlatform } from '../node-pool.ts'
import type { TargetReader } from '../target-apart.ts'
import type { TerminalStreams } from './terminal.ts'

/** The streams of a process, or those of a test. */
export interface CommandStreams {
  readonly stdin: TerminalStreams['input']
  readonly stdout: TerminalStreams['output']
  readonly stderr: TerminalStreams['questions']
}

/**
 * What a command uses of this machine besides its streams. The command's `start.ts` passes the real
 * parts, and tests pass others.
 */
export interface CommandParts extends CommandPlatform {
  /**
   * Called by a command that sends requests. From then on the first Ctrl-C only aborts the returned
   * signal; a second one ends the process.
   */
  readonly stopsInOrder: () => AbortSignal
  /**
   * Reads the configuration for a command that reads a mnemonic: `collect -- sign`, `payout -- run`
   * and `payout -- sign`.
   */
  readonly readTarget: TargetReader
}
