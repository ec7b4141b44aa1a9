import type { Language } from '../kit/texts.ts'
import type { DeskTexts } from './languages/en.ts'

/**
 * How to load each language. The browser loads only the file of the language that the reader uses.
 */
const files: Readonly<Record<Language, () => Promise<DeskTexts>>> = {
  en: async () => (await import('./languages/en.ts')).enDesk,
  zh: async () => (await import('./languages/zh.ts')).zhDesk,
}

/** Loads the texts of the desk in a language. Rejects if the browser cannot load their file. */
export const loadDeskTexts = (language: Language): Promise<DeskTexts> => files[language]()
