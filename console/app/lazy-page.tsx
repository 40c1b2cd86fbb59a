import type { ComponentType } from 'react'
import { loadChunk } from '../lib/chunk.ts'
import { loadAreas } from '../lib/text.ts'
import type { Area } from '../messages/namespaces.ts'

/** A page that is loaded when it is visited; `preload` is what the router waits for. */
export interface LazyPage {
  (): React.ReactNode
  preload(): Promise<void>
}

/** Loads a page and its messages together, within the time limit; a failure is the error panel's to show. */
export function lazyPage(load: () => Promise<ComponentType>, areas: readonly Area[]): LazyPage {
  let Found: ComponentType | undefined
  let loading: Promise<void> | undefined
  const preload = () => {
    loading ??= loadChunk(() => Promise.all([load(), loadAreas(areas)])).then(
      ([component]) => {
        Found = component
      },
      (error: unknown) => {
        // Asked for again at the next try.
        loading = undefined
        throw error
      },
    )
    return loading
  }
  // biome-ignore lint/correctness/noComponentHookFactories: one component for each page, made once when the routes are
  const Page: LazyPage = () => {
    // The router shows a page when it is there; a fast way back may come before.
    if (!Found) throw preload()
    return <Found />
  }
  Page.preload = preload
  return Page
}
