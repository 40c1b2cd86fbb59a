import type { Area, MessageKey, Messages } from '../messages/namespaces.ts'
import { importPart } from './chunk.ts'
import { languageCodes, languages, type PlainLanguage } from './languages.ts'
import { formatMessage, type Message, type MessageValues } from './message-format.ts'
import { observable, useObservable } from './observable.ts'
import { readStored, writeStored } from './storage.ts'

/** The languages of a page. `pseudo` is lengthened English with accents, for tests. */
export type Language = PlainLanguage | 'pseudo'

// The name of a placeholder: `name` in `{name}`, or the first word of `{n, plural, …}`.
type Word<T extends string> = T extends `${infer Name},${string}` ? Name : T extends `${string} ${string}` ? never : T
type Names<T extends string> = T extends `${string}{${infer Inside}}${infer Rest}` ? Word<Inside> | Names<Rest> : never
type Needs<K extends MessageKey> = Names<Messages[K]>

/** The argument with the values for a message's placeholders. A message without placeholders has no such argument. */
export type Values<K extends MessageKey> = [Needs<K>] extends [never] ? [] : [Record<Needs<K>, string | number>]

/** Returns a message in the language of the page. */
export type Text = <K extends MessageKey>(key: K, ...values: Values<K>) => string

/** Messages as compiled by the build. */
type Catalogue = Readonly<Record<string, Message>>
type CatalogueModule = Record<string, Catalogue>

const files = import.meta.glob<CatalogueModule>('../messages/*.??.ts')
/** The messages that have been loaded, by language. */
const messages = new Map<Language, Record<string, Message>>()

const wanted = new Set<Area>()
const loads = new Map<string, Promise<void>>()

/** Incremented when the language changes, so that components render again. */
const version = observable(0)

function load(area: Area, language: Language): Promise<void> {
  const id = `${area}.${language}`
  const known = loads.get(id)
  if (known !== undefined) return known
  const loading = loadCatalogue(area, language).then(
    (catalogue) => {
      messages.set(language, { ...messages.get(language), ...catalogue })
    },
    (error: unknown) => {
      loads.delete(id)
      throw error
    },
  )
  loads.set(id, loading)
  return loading
}

async function loadCatalogue(area: Area, language: Language): Promise<Catalogue> {
  const file = files[`../messages/${area}.${plain(language)}.ts`]
  const [catalogue] = file ? Object.values(await importPart(file)) : []
  if (!catalogue) throw new Error(`There are no messages for ${area}.`)
  if (language !== 'pseudo') return catalogue
  const { pseudo } = await import('./pseudo.ts')
  return pseudo(catalogue)
}

/** Loads the messages of some areas in the page's language. Resolves when `text` can use them. */
export async function loadAreas(areas: readonly Area[]): Promise<void> {
  for (const area of areas) wanted.add(area)
  await Promise.all(areas.map((area) => load(area, language())))
}

/** Returns a message in the language of the page. The message's area must be loaded; components use `useText`. */
export const text: Text = (key, ...values) => textByKey(key, values[0]) ?? key

/** `text` for components. A component that uses it renders again when the language changes. */
export function useText(): Text {
  const now = useObservable(version)
  // Each language has a different function, so that memoised components notice the change.
  return textOf(now)
}

let made: { version: number; text: Text } | undefined
function textOf(now: number): Text {
  if (made?.version !== now) made = { version: now, text: (key, ...values) => text(key, ...values) }
  return made.text
}

/** Returns a message by a key built at run time, such as the key of a status; undefined if there is no such message. */
export function textByKey(key: string, values?: MessageValues): string | undefined {
  const message = messages.get(active)?.[key]
  return message === undefined ? undefined : formatMessage(message, languageTag(), values)
}

function firstLanguage(): Language {
  const chosen = readStored('ui.lang')
  if (chosen === 'pseudo') return chosen
  const preferred = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0])
  for (const each of [chosen, ...preferred]) {
    const known = languageCodes.find((code) => code === each)
    if (known) return known
  }
  return 'en'
}

let active: Language = firstLanguage()
document.documentElement.lang = languageTag()

/** The language of the messages; English for the pseudo-locale. */
function plain(of: Language): PlainLanguage {
  return of === 'pseudo' ? 'en' : of
}

/** Language of the page. */
function language(): Language {
  return active
}

/** Language of the page, for components; English for the pseudo-locale. */
export function useLanguage(): PlainLanguage {
  useObservable(version)
  return plain(active)
}

/** BCP 47 tag of the language, for `Intl` and `lang`. */
export function languageTag(): string {
  return languages[plain(active)].tag
}

/** Whether the page is in English, the language of the server's texts. */
export function isEnglish(): boolean {
  return plain(active) === 'en'
}

/** Changes the page's language without a reload, and remembers the choice. */
export async function setLanguage(next: Language): Promise<void> {
  await Promise.all([...wanted].map((area) => load(area, next)))
  active = next
  writeStored('ui.lang', next)
  document.documentElement.lang = languageTag()
  version.set(version.get() + 1)
}

// Runs when the language was changed in another tab of the console. If its messages cannot be loaded, nothing changes.
window.addEventListener('storage', ({ key }) => {
  if (key === 'ui.lang') void setLanguage(firstLanguage()).catch(() => undefined)
})
