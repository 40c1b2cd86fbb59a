import { browserOf } from './client-name.ts'
import { text } from './text.ts'

/** The browser and operating system in words, such as Chrome on Windows. Other clients keep their User-Agent header. */
export function clientWords(userAgent: string): string {
  const known = browserOf(userAgent)
  if (!known) return userAgent === '' ? text('client.unknown') : userAgent
  const { browser, system } = known
  return system === undefined ? browser : text('client.of', { browser, system })
}
