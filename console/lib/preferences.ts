import { observable, useObservable } from './observable.ts'
import { readStored, readStoredJson, type StorageKey, writeStored } from './storage.ts'

/** Row height in lists. */
export type Density = 'comfortable' | 'compact'

const density = observable<Density>(readStored('ui.density') === 'compact' ? 'compact' : 'comfortable')
const folded = observable(readStored('ui.sidebar') === 'icons')
const logSummary = observable(readStored('ui.logSummary') !== 'off')

/** Row height in lists. */
export function useDensity(): Density {
  return useObservable(density)
}

/** Changes the row height and remembers the choice. */
export function setDensity(next: Density): void {
  writeStored('ui.density', next === 'compact' ? next : undefined)
  if (next === 'compact') document.documentElement.dataset['density'] = next
  else delete document.documentElement.dataset['density']
  density.set(next)
}

/** Whether the sidebar shows icons only. */
export function useSidebarFolded(): boolean {
  return useObservable(folded)
}

/** Collapses or expands the sidebar and remembers the choice. */
export function setSidebarFolded(next: boolean): void {
  writeStored('ui.sidebar', next ? 'icons' : undefined)
  if (next) document.documentElement.dataset['sidebar'] = 'icons'
  else delete document.documentElement.dataset['sidebar']
  folded.set(next)
}

/** Whether the log page shows figures and a chart above the rows. */
export function useLogSummary(): boolean {
  return useObservable(logSummary)
}

/** Shows or hides the figures and the chart of the log page, and remembers the choice. */
export function setLogSummary(next: boolean): void {
  writeStored('ui.logSummary', next ? undefined : 'off')
  logSummary.set(next)
}

/** A list of names stored in the browser, such as columns; undefined if none is stored. */
export function storedNames(key: StorageKey): string[] | undefined {
  const value = readStoredJson(key)
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined
}
