import { useHotkeys } from '../../lib/hotkeys.ts'
import type { RowAction } from './types.ts'

interface TableKeys {
  count: number
  /** Index of the current row, which j and k change; -1 = none. */
  current: number
  setCurrent(index: number): void
  page: number
  pages: number
  goTo(page: number): void
  actions(index: number): RowAction[]
  open(index: number): unknown
  toggle(index: number): unknown
}

/**
 * j and k move between rows, Enter and o open a row, x selects it, and [ and ] turn pages. Other keys run the row's actions.
 */
export function useTableKeys(keys: TableKeys): void {
  const { count, current, setCurrent, page, pages, goTo } = keys
  const move = (by: number) => {
    const next = Math.max(0, Math.min(count - 1, current + by))
    setCurrent(next)
    document.querySelectorAll('.data-table tbody tr')[next]?.scrollIntoView({ block: 'nearest' })
  }
  const ofRow = Object.fromEntries(
    keys
      .actions(current)
      .filter((action) => action.keys !== undefined && !action.disabled)
      .map((action) => [action.keys ?? '', action.run]),
  )
  useHotkeys({
    j: () => move(1),
    k: () => move(current < 0 ? 1 : -1),
    x: () => keys.toggle(current),
    o: () => keys.open(current),
    ...(current >= 0 && { enter: () => keys.open(current) }),
    '[': () => page > 1 && goTo(page - 1),
    ']': () => page < pages && goTo(page + 1),
    ...ofRow,
  })
}
