import { useMatch, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { comparablePath, parseQuery, type RawSearch, writeQuery } from './url-query.ts'

/** Changes some values of the address's query. `replace` leaves no entry in the browser's history. */
export type SetSearch<S> = (patch: Partial<S>, options?: { replace?: boolean }) => void

/**
 * The query of the address, read by the page's own function, and a function to change it. A page that is still visible
 * while the next page loads can no longer change the query, because the address already belongs to the next page.
 */
export function useUrlState<S extends object>(parse: (raw: RawSearch) => S): [S, SetSearch<S>] {
  const raw = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const router = useRouter()
  const path = comparablePath(useMatch({ strict: false, select: ({ pathname }) => pathname }))
  const key = writeQuery(raw)
  const state = useMemo(() => parse(parseQuery(key)), [parse, key])
  const set = useCallback<SetSearch<S>>(
    (patch, { replace = false } = {}) => {
      if (comparablePath(router.latestLocation.pathname) !== path) return
      void navigate({
        to: '.',
        search: ((before: object) => ({ ...before, ...patch })) as never,
        replace,
        resetScroll: false,
      })
    },
    [navigate, router, path],
  )
  return [state, set]
}
