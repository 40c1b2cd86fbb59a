/**
 * The languages of the console: BCP 47 tag and own name. The build and the tests read this list; each language has one
 * file of messages per area and one sentence in the template of index.html, in this order.
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
