import { useEffect } from 'react'
import { observable } from './observable.ts'
import { useText } from './text.ts'

/** What the current page is about, for the breadcrumb. */
interface Crumb {
  name: string
  /** Its row in the list, which the breadcrumb leads to. */
  peek?: string | undefined
}

/** The object of the current page; undefined if the page is not about a single object. */
export const currentCrumb = observable<Crumb | undefined>(undefined)

/** Names a page that has no entry in the menu, for the breadcrumb; `under` is the page that leads to it. */
export const currentPage = observable<{ name: string; under: string | undefined } | undefined>(undefined)

/** Shows the name of the page in the breadcrumb, behind that of the page `under` which it belongs to. */
export function usePageCrumb(name: string, under?: string): void {
  useEffect(() => {
    const page = { name, under }
    currentPage.set(page)
    return () => {
      if (currentPage.get() === page) currentPage.set(undefined)
    }
  }, [name, under])
}

/** Tells what the page is about while the component is mounted: in the breadcrumb, and in front of the window's title. */
export function useCrumb(name: string, peek?: number): void {
  const t = useText()
  const row = peek === undefined ? undefined : String(peek)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page sets the title again in another language
  useEffect(() => {
    if (name === '') return
    const crumb = { name, peek: row }
    const prefix = `${name} · `
    let isGone = false
    currentCrumb.set(crumb)
    // The page around this component sets its title in the same turn, but later.
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
