import type { Language } from '../kit/texts.ts'
import type { DeskTexts } from './languages/en.ts'

/** Every language: only the file of one is loaded. */
const files: Readonly<Record<Language, () => Promise<DeskTexts>>> = {
  en: async () => (await import('./languages/en.ts')).enDesk,
  zh: async () => (await import('./languages/zh.ts')).zhDesk,
}

/** What the desk says in a language. */
export const loadDeskTexts = (language: Language): Promise<DeskTexts> => files[language]()
