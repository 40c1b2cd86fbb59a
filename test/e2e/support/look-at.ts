import type { Page } from 'playwright-core'
import { languageCodes, type PlainLanguage } from '../../../console/lib/languages.ts'
import { type AxeRules, axeFaults, scrollsSideways, untranslated } from './audit.ts'
import type { Console, Visit } from './console.ts'
import type { Screen } from './screen.ts'

/** The languages besides English. */
const translations = languageCodes.filter((code) => code !== 'en')
const widths = [1366, 390] as const

/** The name of a screen. */
export function nameOf({ path, state }: Screen): string {
  return state === undefined ? path : `${path} ${state}`
}

async function open(visit: Visit, { path, prepare }: Screen): Promise<void> {
  await visit.open(path)
  await prepare?.(visit.page)
}

async function setTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.evaluate((name) => {
    document.documentElement.dataset['theme'] = name
  }, theme)
}

/**
 * Changes the language in the way in which another browser tab of the console would: without reloading the page or
 * closing dialogs.
 */
function changeLanguage(page: Page, language: PlainLanguage | 'pseudo'): Promise<void> {
  return page.evaluate((next) => {
    localStorage.setItem('ui.lang', next)
    window.dispatchEvent(new StorageEvent('storage', { key: 'ui.lang', newValue: next }))
  }, language)
}

/** Changes the language and waits until the page has it. */
async function setLanguage(page: Page, language: PlainLanguage): Promise<void> {
  await changeLanguage(page, language)
  await page.waitForFunction((lang) => document.documentElement.lang.startsWith(lang), language)
}

/**
 * Changes to the pseudo-locale and returns the texts that are in no catalogue. A text that was created before the
 * change, such as that of a toast, keeps its language. If there are such texts, the screen is opened again.
 */
async function untranslatedTexts(visit: Visit, screen: Screen): Promise<string[]> {
  const { page } = visit
  await changeLanguage(page, 'pseudo')
  await page.waitForFunction(() => document.body.textContent?.includes('⟦'))
  if ((await untranslated(page)).length === 0) return []
  await open(visit, screen)
  return untranslated(page)
}

/** Parts of the page or of its overlays that extend past the right edge, where the user cannot scroll to them. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const scrolls = (element: Element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX)
    const found: string[] = []
    for (const element of document.querySelectorAll('main *, header *, [role="dialog"], [role="alertdialog"]')) {
      const { right, width, height } = element.getBoundingClientRect()
      if (right <= window.innerWidth + 1 || width < 2 || height < 2) continue
      let around = element.parentElement
      while (around && around !== document.body && !scrolls(around)) around = around.parentElement
      if (around === document.body || around === null) found.push(element.outerHTML.slice(0, 120))
    }
    return found
  })
}

/**
 * Checks a screen with axe in both themes and every language, on a wide and a narrow screen. After each change, only
 * the rules that the change can break are checked. At the end, the screen is checked in the pseudo-locale at the
 * smallest width, with all axe rules, for untranslated texts and for content that does not fit. Returns the problems.
 */
export async function lookAt(console: Console, screen: Screen): Promise<string[]> {
  const faults: string[] = []
  const expectedErrors = screen.fails ? /status of 502/ : (screen.says ?? screen.opens)
  await using visit = await console.visit({
    ...(screen.as && { as: screen.as }),
    ...(expectedErrors && { expectedErrors }),
    language: 'en',
    theme: 'light',
    width: screen.only === 'narrow' ? 390 : 1366,
  })
  const { page } = visit
  const { fails, opens } = screen
  if (fails !== undefined) await page.route(fails, (route) => route.fulfill({ status: 502, json: {} }))
  if (opens) await page.route(opens, (route) => route.fulfill({ contentType: 'text/html', body: '<title>x</title>' }))
  await open(visit, screen)
  // An element that is too small only because a sticky bar covers it is ignored, because the user can scroll it into
  // view.
  const isCovered = (fault: string) => /size because it is partially obscured/.test(fault)
  const look = async (rules: AxeRules, how: string) =>
    faults.push(
      ...(await axeFaults(page, rules)).filter((fault) => !isCovered(fault)).map((fault) => `${how}: ${fault}`),
    )
  for (const width of widths) {
    if (screen.only !== undefined && (screen.only === 'narrow') !== (width === 390)) continue
    await page.setViewportSize({ width, height: 860 })
    // At 390 px, not all rules are checked here. They are checked at the smallest width, in the pseudo-locale.
    if (width !== 390) await look('all', `${width} en light`)
    // At 390 px, the languages are checked in reverse order, because the page is then already in the last language.
    for (const language of width === 390 ? translations.toReversed() : translations) {
      // The dark theme has the same elements in every language, so its colours are checked in the last language only.
      const isDark = language === translations.at(-1)
      await setTheme(page, isDark ? 'dark' : 'light')
      await setLanguage(page, language)
      await look(isDark ? 'words and colours' : 'words', `${width} ${language} ${isDark ? 'dark' : 'light'}`)
      if (await scrollsSideways(page)) faults.push(`${width} ${language}: scrolls sideways`)
      faults.push(...(await cutOff(page)).map((part) => `${width} ${language}: cut off: ${part}`))
    }
  }
  await setTheme(page, 'light')
  faults.push(...(await untranslatedTexts(visit, screen)).map((text) => `not translated: ${text}`))
  await page.setViewportSize({ width: 320, height: 640 })
  if (await scrollsSideways(page)) faults.push('320 pseudo: scrolls sideways')
  faults.push(...(await cutOff(page)).map((part) => `320 pseudo: cut off: ${part}`))
  await look('all', '320 pseudo')
  return faults
}
