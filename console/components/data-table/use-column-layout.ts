import { useMemo, useState } from 'react'
import { storedNames } from '../../lib/preferences.ts'
import { sessionUser } from '../../lib/session.ts'
import { type StorageKey, writeStored } from '../../lib/storage.ts'
import type { Column } from './types.ts'

/** The columns of a list in the order and selection that the user chose. The choice is stored in the browser. */
export interface ColumnLayout<Row> {
  /** Every column, in order. */
  all: Column<Row>[]
  /** The visible columns, in order. */
  shown: Column<Row>[]
  isShown(id: string): boolean
  toggle(id: string): void
  move(id: string, by: -1 | 1): void
  reset(): void
}

/** Order and selection of a list's columns; `name` is the name of the list. */
export function useColumnLayout<Row>(name: string, columns: readonly Column<Row>[]): ColumnLayout<Row> {
  const key: StorageKey = `ui.columns.${sessionUser()?.id ?? 0}.${name}`
  // Stored as a list of ids in order; the ids of hidden columns start with '-'.
  const [kept, setKept] = useState(() => storedNames(key))

  return useMemo(() => {
    const save = (next: string[] | undefined) => {
      writeStored(key, next && JSON.stringify(next))
      setKept(next)
    }
    const place = (id: string) => {
      const at = kept?.findIndex((each) => each.replace(/^-/, '') === id) ?? -1
      return at < 0 ? columns.length + columns.findIndex((column) => column.id === id) : at
    }
    const all = kept ? [...columns].sort((a, b) => place(a.id) - place(b.id)) : [...columns]
    const isShown = (id: string) => {
      const column = columns.find((each) => each.id === id)
      if (column?.required) return true
      if (kept?.includes(id)) return true
      if (kept?.includes(`-${id}`)) return false
      return column?.hidden !== true
    }
    const written = (of: readonly Column<Row>[], change?: string) =>
      of.map(({ id }) => ((id === change) === isShown(id) ? `-${id}` : id))
    return {
      all,
      shown: all.filter((column) => isShown(column.id)),
      isShown,
      toggle: (id) => save(written(all, id)),
      move: (id, by) => {
        const next = [...all]
        const at = next.findIndex((column) => column.id === id)
        const [moved] = next.splice(at, 1)
        if (moved) next.splice(at + by, 0, moved)
        save(written(next))
      },
      reset: () => save(undefined),
    }
  }, [key, kept, columns])
}
