import type { Page } from 'playwright-core'

/** How much the parts of a page have moved by themselves since it was opened (cumulative layout shift). */
export function shiftsOf(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done) => {
        let sum = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) sum += (entry as unknown as { value: number }).value
        }).observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
      }),
  )
}
