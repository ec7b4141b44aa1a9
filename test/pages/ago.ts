/** An instant so many seconds ago, by the clock of the scripted service. */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()
