/** The languages of the desk. */
export type Language = 'en' | 'zh'

type Words = (...parts: never[]) => string

/**
 * The type of a translation of `Texts`: the same structure with other words. A missing text is a
 * type error.
 */
export type InAnyLanguage<Texts> = Texts extends string
  ? string
  : Texts extends Words
    ? Texts
    : { readonly [Name in keyof Texts]: InAnyLanguage<Texts[Name]> }

/** The first of the reader's languages that the desk has; English if it has none of them. */
export function preferredLanguage(languages: readonly string[]): Language {
  const known = languages.map((one) => one.slice(0, 2).toLowerCase()).find((one) => one === 'en' || one === 'zh')
  return known === 'zh' ? 'zh' : 'en'
}
