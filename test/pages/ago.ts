/** The instant `seconds` before now, in ISO 8601. */
export const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()
