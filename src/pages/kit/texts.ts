/** The languages of the pages. */
export type Language = 'en' | 'zh'

type Words = (...parts: string[]) => string
type Translated = readonly [en: string, zh: string] | readonly [en: Words, zh: Words]

/** Every text of a page in both languages. A missing translation is a type error. */
export type TextTable = Readonly<Record<string, Translated>>

/** The texts of a table in one language, by name. */
export type TextsOf<Table extends TextTable> = {
  readonly [Name in keyof Table]: Table[Name][0] extends string ? string : Table[Name][0]
}

/** The texts of a table in this language. */
export function textsIn<Table extends TextTable>(table: Table, language: Language): TextsOf<Table> {
  const index = language === 'en' ? 0 : 1
  const texts = Object.entries(table).map(([name, both]) => [name, both[index]])
  return Object.fromEntries(texts) as TextsOf<Table> // safe: each name with one of its two texts
}

/** The first of the reader's languages that the pages have, else English. */
export function preferredLanguage(languages: readonly string[]): Language {
  const known = languages.map((one) => one.slice(0, 2).toLowerCase()).find((one) => one === 'en' || one === 'zh')
  return known === 'zh' ? 'zh' : 'en'
}

/** What both pages say. */
export const commonTexts = {
  otherLanguage: ['中文', 'English'],
  copy: ['Copy', '复制'],
  copied: ['Copied', '已复制'],
  selected: ['Selected: now copy it', '已选中，请手动复制'],
  tryAgain: ['Try again', '重试'],
  retriesIn: [(seconds) => `Tries again by itself in ${seconds} s.`, (seconds) => `${seconds} 秒后自动重试。`],
  retriesNow: ['Trying again now.', '正在重试。'],
  offline: ['No connection to the service', '无法连接到服务'],
  offlineNext: [
    'Check the internet connection. The page goes on by itself when it is back.',
    '请检查网络连接。恢复后页面会自动继续。',
  ],
  slow: ['The service takes too long to answer', '服务响应超时'],
  unauthorized: ['Your session has ended, or you are not signed in', '登录已过期，或尚未登录'],
  unauthorizedNext: [
    'Go back to the site or app that gave you this page, sign in there if it asks for that, and open this page from there again.',
    '请回到向您提供本页面的网站或应用，按需登录，然后从那里重新打开本页面。',
  ],
  unauthorizedHere: [
    'For developers, on this machine: set DEV_UID in .dev.vars, or open this page with #token= and a token.',
    '开发者提示（本机）：请在 .dev.vars 中设置 DEV_UID，或在地址后加 #token= 和令牌再打开。',
  ],
  limited: ['The page is busy: too many requests for now', '页面繁忙：请求过于频繁'],
  unavailable: ['The service cannot answer right now', '服务暂时无法响应'],
  broken: ['The answer of the service could not be read', '无法读取服务的响应'],
  refused: ['The service has refused the request', '服务拒绝了该请求'],
  numbersAsTable: ['The numbers as a table', '以表格显示数据'],
  serviceSays: ['The service says:', '服务原文：'],
} as const satisfies TextTable

/** What both pages say, in one language. */
export type CommonTexts = TextsOf<typeof commonTexts>
