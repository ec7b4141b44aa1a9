declare const brand: unique symbol

/** `T` that only one parser may make, so that two kinds of text or number are never mixed up. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name }
