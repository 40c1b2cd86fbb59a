import { pageSize } from '../../contract/api/endpoint.ts'
import { observable } from './observable.ts'
import { sessionUser } from './session.ts'
import { readStored, type StorageKey, writeStored } from './storage.ts'

/** The numbers of rows per page that users can choose from. */
export const pageSizes = [10, 25, 50, 100] as const

const keyOf = (name: string): StorageKey => `ui.rows.${sessionUser()?.id ?? 0}.${name}`

/** A counter that increases with every choice. Lists subscribe to it, in order to notice a new number of rows. */
export const pageSizeChoices = observable(0)

/** The number of rows per page that the user chose for a list; `usual` if none was chosen. */
export function chosenPageSize(name: string, usual: number = pageSize): number {
  const stored = Number(readStored(keyOf(name)))
  return pageSizes.find((size) => size === stored) ?? usual
}

/** Changes a list's number of rows per page, and remembers the choice for this user. */
export function choosePageSize(name: string, size: number): void {
  writeStored(keyOf(name), String(size))
  pageSizeChoices.set(pageSizeChoices.get() + 1)
}
