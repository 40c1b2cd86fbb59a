import type { Locator, Page } from 'playwright-core'
import { untilItPasses } from './eventually.ts'

type Kind = 'success' | 'info' | 'error' | 'warning' | 'notice'

const shown = new WeakMap<Page, { kind: string; text: string }[]>()
const plain = (text: string) => text.replaceAll(/\s+/g, ' ').toLowerCase()

/** The toast with this kind and text, while it is on the screen. */
export function toastOf(page: Page, kind: Kind, text: string): Locator {
  return page.locator(`[data-toast="${kind}"]`).filter({ hasText: text })
}

/**
 * Records the texts of all toasts from now on, because some are shown for less time than a slow machine may need to
 * check them.
 */
export async function keepToasts(page: Page): Promise<void> {
  const kept: { kind: string; text: string }[] = []
  shown.set(page, kept)
  await page.exposeBinding('keepToast', (_, kind: string, text: string) => void kept.push({ kind, text }))
  await page.addInitScript(() => {
    const said = new WeakMap<Element, string>()
    const { keepToast } = window as unknown as { keepToast(kind: string, text: string): void }
    const look = (toast: HTMLElement) => {
      const text = toast.textContent ?? ''
      if (said.get(toast) === text) return
      said.set(toast, text)
      keepToast(toast.dataset['toast'] ?? '', text)
    }
    new MutationObserver(() => {
      for (const toast of document.querySelectorAll<HTMLElement>('[data-toast]')) look(toast)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })
}

/** Forgets the toasts of an earlier test. */
export function forgetToasts(page: Page): void {
  shown.get(page)?.splice(0)
}

/**
 * Waits until a toast with this text has been shown, even if it has already disappeared, and returns its text. Each
 * appearance of a toast is matched only once.
 */
export async function toastShown(page: Page, kind: Kind, text: string): Promise<string> {
  const kept = shown.get(page) ?? []
  let said = ''
  await untilItPasses(async () => {
    const place = kept.findIndex((each) => each.kind === kind && plain(each.text).includes(plain(text)))
    if (place < 0) throw new Error(`no ${kind} says "${text}"; shown: ${JSON.stringify(kept)}`)
    said = kept.splice(place, 1)[0]?.text ?? ''
  })
  return said
}
