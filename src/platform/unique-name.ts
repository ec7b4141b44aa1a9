/** A name that nobody else has or can guess: a random UUID. */
export function uniqueName(): string {
  return crypto.randomUUID()
}
