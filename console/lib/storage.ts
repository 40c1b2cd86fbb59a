/**
 * The keys that the console stores in the browser. One-api also uses some of them; the console's own keys begin with
 * `ui.`.
 */
export type StorageKey =
  | 'user'
  | 'status'
  | 'system_name'
  | 'logo'
  | 'footer_html'
  | 'quota_per_unit'
  | 'display_in_currency'
  | 'chat_link'
  | 'aff'
  | 'notice'
  | 'home_page_content'
  | 'about'
  | `ui.${string}`

/**
 * The stored text, or undefined if there is none. If the browser denies access to its storage, the storage counts as
 * empty.
 */
export function readStored(key: StorageKey): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores the text. With undefined, removes the key. */
export function writeStored(key: StorageKey, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // A value that cannot be stored is lost when the page is reloaded.
  }
}

/** Stored JSON, or undefined if there is none or it cannot be parsed. */
export function readStoredJson(key: StorageKey): unknown {
  const text = readStored(key)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
