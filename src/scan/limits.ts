// How long the scanner works at once, in milliseconds.

/** After this, a tick requests no further blocks. */
export const tickReadMs = 18_000
/** After this, a tick ends: what is left waits for the next one. */
export const tickMs = 25_000
/** Work with leftover requests gets at least this long in a tick where it got none for `restEveryMs`. */
export const restMsMin = 2_000
/** See `restMsMin`. */
export const restEveryMs = 20_000
/** After this, a call of a caller requests nothing more and waits for nothing more. */
export const callMs = 12_000
/** A call begins no scan with less time left. */
export const scanMsMin = 2_000
