import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface AxeResults {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

/**
 * Groups of axe rules. A page is first checked with all rules. If only its colours or texts change, it is then checked
 * with the rules for colours or texts.
 */
const colours = ['color-contrast', 'link-in-text-block']
const words = [
  ...['html-has-lang', 'html-lang-valid', 'document-title', 'page-has-heading-one', 'empty-heading'],
  ...['empty-table-header', 'button-name', 'link-name', 'input-button-name', 'summary-name', 'frame-title'],
  ...['label', 'select-name', 'label-title-only', 'form-field-multiple-labels', 'aria-input-field-name'],
  ...['aria-command-name', 'aria-dialog-name', 'aria-toggle-field-name', 'aria-tooltip-name', 'aria-meter-name'],
  ...['aria-progressbar-name', 'aria-treeitem-name', 'landmark-unique', 'image-alt', 'role-img-alt'],
  ...['svg-img-alt', 'image-redundant-alt', 'target-size', 'scrollable-region-focusable', 'meta-viewport'],
]
const some = { all: undefined, words, 'words and colours': [...words, ...colours] }

/** The name of a group of axe rules. */
export type AxeRules = keyof typeof some

/** Axe's findings for the page in its current state, one per line. */
export async function axeFaults(page: Page, asked: AxeRules = 'all'): Promise<string[]> {
  // Waits for animations to end, because colours would otherwise be measured while they change. It does not wait for
  // endless animations, such as a spinner.
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map((each) => each.finished.catch(() => undefined)),
    ),
  )
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const results = await page.evaluate(
    async ({ tags, rules }) => {
      const { axe } = window as unknown as { axe: { run(where: Document, options: unknown): Promise<AxeResults> } }
      const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: tags }
      // `preload` is needed only for axe's rules for media and its experimental rules, which are not used here.
      return axe.run(document, { runOnly, resultTypes: ['violations'], preload: false })
    },
    { tags: rules, rules: some[asked] },
  )
  return results.violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}\n    ${node.html.slice(0, 300)}\n    ${node.failureSummary ?? ''}`),
  )
}

/** Whether the page scrolls sideways. Waits two frames first, so that elements that measure themselves have settled. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done))
    return document.documentElement.scrollWidth > document.documentElement.clientWidth
  })
}

/**
 * Text on the page that is not in any message catalogue. In the pseudo-locale, every message is enclosed in ⟦ and ⟧.
 */
export function untranslated(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    while (walker.nextNode()) {
      const { textContent: text, parentElement: parent } = walker.currentNode
      if (!text || !/\p{L}{2}/u.test(text) || text.includes('⟦')) continue
      // Data, code, keys and names of languages are not translated, so they are skipped.
      if (parent?.closest('script, style, noscript, code, kbd, [lang], [data-verbatim], option, time')) continue
      if (parent?.closest('tbody th, tbody td, a[href="/"]')) continue
      found.push(text.trim())
    }
    return found
  })
}
