import type { Memory } from '../kit/memory.ts'
import type { Texts } from './languages/en.ts'

/** Every language, by the first part of its tag: only the file of one is loaded. A further one is a file and its line here. */
const files = {
  en: async (): Promise<Texts> => (await import('./languages/en.ts')).en,
  zh: async (): Promise<Texts> => (await import('./languages/zh.ts')).zh,
} satisfies Readonly<Record<string, () => Promise<Texts>>>

/** One of the languages. */
export type LanguageName = keyof typeof files

/** Each language by its own name. */
export const ownNames: Readonly<Record<LanguageName, string>> = { en: 'English', zh: '中文' }

const names = Object.keys(files) as LanguageName[] // safe: its own keys

/** What the page says in a language. */
export const loadTexts = (language: LanguageName): Promise<Texts> => files[language]()

/** The language of a tag such as zh-CN; null where the page does not have it. */
function languageOf(tag: string): LanguageName | null {
  return names.find((name) => name === tag.slice(0, 2).toLowerCase()) ?? null
}

/** The one after a language: what the switch goes to. */
export function nextLanguage(language: LanguageName): LanguageName {
  return names[(names.indexOf(language) + 1) % names.length] ?? 'en'
}

/** What the address asks for (`?lang=`). A choice of the reader holds against it, until it asks for another one. */
const askedLanguage = new URLSearchParams(location.search).get('lang')
const choiceName = `language ${askedLanguage ?? ''}`

/** What the reader has chosen, else what the address asks for, else the first of the browser's languages that there is. */
export function firstLanguage(memory: Memory, browser: readonly string[]): LanguageName {
  for (const tag of [memory.read(choiceName), askedLanguage, ...browser]) {
    const found = tag === null ? null : languageOf(tag)
    if (found !== null) return found
  }
  return 'en'
}

/** Keeps a choice of the reader. */
export function rememberLanguage(memory: Memory, chosen: LanguageName): void {
  memory.write(choiceName, chosen)
}
