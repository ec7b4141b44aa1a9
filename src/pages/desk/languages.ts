import type { Language } from '../kit/texts.ts'
import type { DeskTexts } from './languages/en.ts'

/** The languages. Only one file is loaded. */
const files: Readonly<Record<Language, () => Promise<DeskTexts>>> = {
  en: async () => (await import('./languages/en.ts')).enDesk,
  zh: async () => (await import('./languages/zh.ts')).zhDesk,
}

/** Loads the texts of the desk in a language. */
export const loadDeskTexts = (language: Language): Promise<DeskTexts> => files[language]()
