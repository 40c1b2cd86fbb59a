import { useEffect } from 'react'
import { observable } from './observable.ts'
import { useText } from './text.ts'

/** The object that the current page is about, for the breadcrumb. */
interface Crumb {
  name: string
  /** The id of its row in the list, to which the breadcrumb links. */
  peek?: string | undefined
}

/** The object of the current page; undefined if the page is not about a single object. */
export const currentCrumb = observable<Crumb | undefined>(undefined)

/** The name of a page without a menu entry, for the breadcrumb. `under` is the page that leads to it. */
export const currentPage = observable<{ name: string; under: string | undefined } | undefined>(undefined)

/** Shows the name of the page in the breadcrumb. If `under` is set, the name of that page is shown before it. */
export function usePageCrumb(name: string, under?: string): void {
  useEffect(() => {
    const page = { name, under }
    currentPage.set(page)
    return () => {
      if (currentPage.get() === page) currentPage.set(undefined)
    }
  }, [name, under])
}

/**
 * While the component is mounted, shows the object that the page is about in the breadcrumb and at the start of the
 * window's title.
 */
export function useCrumb(name: string, peek?: number): void {
  const t = useText()
  const row = peek === undefined ? undefined : String(peek)
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a change of language, the page sets the title again
  useEffect(() => {
    if (name === '') return
    const crumb = { name, peek: row }
    const prefix = `${name} · `
    let isGone = false
    currentCrumb.set(crumb)
    // The page around this component sets its title later in the same turn, so this code waits until that turn has
    // ended.
    queueMicrotask(() => {
      if (!isGone && !document.title.startsWith(prefix)) document.title = prefix + document.title
    })
    return () => {
      isGone = true
      if (currentCrumb.get() === crumb) currentCrumb.set(undefined)
      if (document.title.startsWith(prefix)) document.title = document.title.slice(prefix.length)
    }
  }, [name, row, t])
}
