import type { Memory } from '../kit/memory.ts'
import type { Texts } from './languages/en.ts'

/**
 * How to load each language, by the first part of its tag (`zh` of `zh-CN`). Only one is loaded. To
 * add a language, add its file and a line here.
 */
const files = {
  en: async (): Promise<Texts> => (await import('./languages/en.ts')).en,
  zh: async (): Promise<Texts> => (await import('./languages/zh.ts')).zh,
} satisfies Readonly<Record<string, () => Promise<Texts>>>

export type LanguageName = keyof typeof files

/** The name of each language in that language. */
export const ownNames: Readonly<Record<LanguageName, string>> = { en: 'English', zh: '中文' }

const names = Object.keys(files) as LanguageName[] // safe: its own keys

/** Loads the texts of the page in a language. Rejects if the browser cannot load their file. */
export const loadTexts = (language: LanguageName): Promise<Texts> => files[language]()

/** The language of a tag such as zh-CN; null if the page does not have it. */
function languageOf(tag: string): LanguageName | null {
  return names.find((name) => name === tag.slice(0, 2).toLowerCase()) ?? null
}

/** The language to which the button in the header changes. */
export function nextLanguage(language: LanguageName): LanguageName {
  return names[(names.indexOf(language) + 1) % names.length] ?? 'en'
}

/**
 * The language in the URL (`?lang=`). What the reader has chosen since overrides it, until the URL
 * names another language.
 */
const askedLanguage = new URLSearchParams(location.search).get('lang')
const choiceName = `language ${askedLanguage ?? ''}`

/**
 * The language to begin with: the reader's choice, that of the URL, or the browser's first one that
 * the page has, in this order; at last English.
 */
export function firstLanguage(memory: Memory, browser: readonly string[]): LanguageName {
  for (const tag of [memory.read(choiceName), askedLanguage, ...browser]) {
    const found = tag === null ? null : languageOf(tag)
    if (found !== null) return found
  }
  return 'en'
}

/**
 * Remembers the language that the reader has chosen, for pages whose URL names the same language.
 */
export function rememberLanguage(memory: Memory, chosen: LanguageName): void {
  memory.write(choiceName, chosen)
}
