import { useSyncExternalStore } from 'react'

/** A value that components can subscribe to. */
export interface Observable<T> {
  get(): T
  set(value: T): void
  subscribe(listener: () => void): () => void
}

/** Creates a value that components can subscribe to with `useObservable`. */
export function observable<T>(initial: T): Observable<T> {
  let current = initial
  const listeners = new Set<() => void>()
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return
      current = value
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The current value; the component renders again when it changes. */
export function useObservable<T>(source: Observable<T>): T {
  return useSyncExternalStore(source.subscribe, source.get)
}
