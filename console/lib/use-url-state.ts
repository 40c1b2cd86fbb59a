import { useMatch, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { comparablePath, parseQuery, type RawSearch, writeQuery } from './url-query.ts'

/** Changes some values in the query of the URL. With `replace`, no entry is added to the browser's history. */
export type SetSearch<S> = (patch: Partial<S>, options?: { replace?: boolean }) => void

/**
 * The query of the URL, parsed by the page's own function, and a function that changes it. While the next page loads,
 * the old page is still visible but can no longer change the query, because the URL already belongs to the next page.
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
