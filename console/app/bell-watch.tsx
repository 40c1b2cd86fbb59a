import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { overviewQuery, ownOverviewQuery } from '../lib/overview.ts'
import { isAdmin, type SessionUser } from '../lib/session.ts'
import { bellEntries } from './bell-entries.ts'
import { entriesOf, ownEntriesOf } from './bell-news.ts'

/**
 * Keeps the entries of the notification bell up to date. It shares its request with the start page, and sends no
 * requests while the page is hidden.
 */
export function BellWatch({ user }: { user: SessionUser }) {
  const admin = isAdmin(user)
  const all = useQuery({ ...overviewQuery, enabled: admin })
  const own = useQuery({ ...ownOverviewQuery, enabled: !admin })
  useEffect(() => {
    if (admin) bellEntries.set(all.data ? entriesOf(all.data) : [])
    else bellEntries.set(own.data ? ownEntriesOf(own.data, Date.now() / 1000) : [])
  }, [admin, all.data, own.data])
  useEffect(() => () => bellEntries.set([]), [])
  return null
}
