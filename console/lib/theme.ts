import { observable, useObservable } from './observable.ts'
import { readStored, writeStored } from './storage.ts'

export type Theme = 'light' | 'dark' | 'system'

function stored(): Theme {
  const value = readStored('ui.theme')
  return value === 'light' || value === 'dark' ? value : 'system'
}

const current = observable<Theme>(stored())

/** The chosen theme; `system` follows the operating system. */
export function useTheme(): Theme {
  return useObservable(current)
}

/** Changes the theme immediately and remembers the choice. */
export function setTheme(theme: Theme): void {
  writeStored('ui.theme', theme === 'system' ? undefined : theme)
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  current.set(theme)
}

// Runs when the theme was changed in another tab of the console.
window.addEventListener('storage', ({ key }) => {
  if (key === 'ui.theme') setTheme(stored())
})
