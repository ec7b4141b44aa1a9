declare const brand: unique symbol

/** A `T` that only one parser creates, so that two kinds of text or number cannot be confused. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
