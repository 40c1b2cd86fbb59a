import type { ComponentType } from 'react'
import { loadChunk } from '../lib/chunk.ts'
import { loadAreas } from '../lib/text.ts'
import type { Area } from '../messages/namespaces.ts'

/** A page that is loaded when it is visited; the router waits for `preload`. */
export interface LazyPage {
  (): React.ReactNode
  preload(): Promise<void>
}

/** Loads a page and its messages together, within the time limit. If loading fails, the error panel is shown. */
export function lazyPage(load: () => Promise<ComponentType>, areas: readonly Area[]): LazyPage {
  let Found: ComponentType | undefined
  let loading: Promise<void> | undefined
  const preload = () => {
    loading ??= loadChunk(() => Promise.all([load(), loadAreas(areas)])).then(
      ([component]) => {
        Found = component
      },
      (error: unknown) => {
        // The next attempt loads the page again.
        loading = undefined
        throw error
      },
    )
    return loading
  }
  // biome-ignore lint/correctness/noComponentHookFactories: each page has one component, created with the routes
  const Page: LazyPage = () => {
    // The router normally shows a page only once it is loaded, but quick back navigation can render the page earlier.
    if (!Found) throw preload()
    return <Found />
  }
  Page.preload = preload
  return Page
}
