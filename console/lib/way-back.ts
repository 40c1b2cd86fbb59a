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

// The key contains the user's id, because one user's search must not be shown to the next user.
const keyOf = (path: ListPath) => `${sessionUser()?.id} ${path}`

/**
 * Like `useUrlState`, for a list with forms. After a form, the user returns to the list in the state in which they left
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
 * The target of a link or of `navigate` from a form back to its list. The list has the state in which the user left it,
 * but without overlays.
 */
export function wayBack<Path extends ListPath>(to: Path): { to: Path; search: ListSearch } {
  return { to, search: left.get(keyOf(to)) ?? {} }
}

/**
 * Like `wayBack`, for use after a row was created. It leads to the first page without a search, because the new row is
 * on the first page and the search might hide it.
 */
export function wayToNew<Path extends ListPath>(to: Path): { to: Path; search: ListSearch } {
  return { to, search: { ...wayBack(to).search, q: undefined, page: undefined } }
}
