/** The streams to which a command writes: those of its process, or those of a test. */
export interface CommandOutput {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
}

interface OutputStream {
  write(chunk: string | Uint8Array): unknown
}
