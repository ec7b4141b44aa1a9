/** An expected failure is a value: either the result, or why there is none. Bugs throw. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E }

/** A success. */
export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value })

/** An expected failure. */
export const err = <E>(error: E): { readonly ok: false; readonly error: E } => ({ ok: false, error })
