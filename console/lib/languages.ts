/**
 * The languages of the console, each with its BCP 47 tag and its own name. The build and the tests use this list. Each
 * language has one file of messages per area. The template of index.html has a sentence in each language, in this
 * order.
 */
export const languages = {
  en: { tag: 'en', name: 'English' },
  zh: { tag: 'zh-CN', name: '简体中文' },
  ja: { tag: 'ja', name: '日本語' },
} as const

/** A language that users can choose. */
export type PlainLanguage = keyof typeof languages

/** Languages in the order in which they are offered. */
export const languageCodes = Object.keys(languages) as PlainLanguage[]
