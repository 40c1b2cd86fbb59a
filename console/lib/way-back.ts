import { useEffect } from 'react'
import { sessionUser } from './session.ts'
import type { RawSearch } from './url-query.ts'
import type { ListSearch } from './url-state.ts'
import { type SetSearch, useUrlState } from './use-url-state.ts'

/** Lists that have forms. */
type ListPath = '/channel' | '/redemption' | '/token' | '/user'

/** Overlays of a list, which are not restored. */
const layers = { peek: undefined, qr: undefined, start: undefined }

const left = new Map<string, ListSearch>()

// One user's search must not be shown to the next user.
const keyOf = (path: ListPath) => `${sessionUser()?.id} ${path}`

/**
 * Like `useUrlState`, for a list that has forms. The forms lead back to the list in the state in which the user left
 * it.
 */
export function useListState<S extends ListSearch>(path: ListPath, parse: (raw: RawSearch) => S): [S, SetSearch<S>] {
  const state = useUrlState(parse)
  const [search] = state
  useEffect(() => {
    left.set(keyOf(path), { ...search, ...layers })
  }, [path, search])
  return state
}

/**
 * The link from a form back to its list, in the state in which the user left the list, without overlays; for links and
 * `navigate`.
 */
export function wayBack<Path extends ListPath>(to: Path): { to: Path; search: ListSearch } {
  return { to, search: left.get(keyOf(to)) ?? {} }
}

/** Like `wayBack`, after a row was created. The new row is on the first page, and the list's search might hide it. */
export function wayToNew<Path extends ListPath>(to: Path): { to: Path; search: ListSearch } {
  return { to, search: { ...wayBack(to).search, q: undefined, page: undefined } }
}
