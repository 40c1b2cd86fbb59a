import { useEffect } from 'react'
import { observable } from './observable.ts'

/** What the current page is about, for the breadcrumb and the window's title. */
export interface Crumb {
  name: string
  /** Its row in the list, which the breadcrumb leads to. */
  peek?: string | undefined
}

/** The object of the current page; undefined if the page is not about a single object. */
export const currentCrumb = observable<Crumb | undefined>(undefined)

/** Tells what the page is about while the component is mounted. */
export function useCrumb(name: string, peek?: number): void {
  const row = peek === undefined ? undefined : String(peek)
  useEffect(() => {
    const crumb = { name, peek: row }
    currentCrumb.set(crumb)
    return () => {
      if (currentCrumb.get() === crumb) currentCrumb.set(undefined)
    }
  }, [name, row])
}
