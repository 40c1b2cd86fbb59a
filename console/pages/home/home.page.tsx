import { useQuery } from '@tanstack/react-query'
import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { statusApi } from '../../../contract/api/status.ts'
import { Card } from '../../components/ui/page.tsx'
import { PageHeading } from '../../components/ui/page-heading.tsx'
import { RowsSkeleton, Skeleton } from '../../components/ui/states.tsx'
import { WrittenContent, WrittenPage, writtenQuery } from '../../components/written-page.tsx'
import { importPart, loadChunk } from '../../lib/chunk.ts'
import { askFirst, isAt } from '../../lib/first-look.ts'
import { type SessionUser, sessionUser, useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { useNotice } from './notice.ts'
import { Welcome } from './welcome.tsx'

interface StartPart {
  Start?: ComponentType<{ user: SessionUser }>
  error?: unknown
}

const written = { endpoint: statusApi.homePageContent, input: {}, storageKey: 'home_page_content' } as const

let startPart: StartPart = {}
const loadStart = async () => {
  const { StartPage } = await loadChunk(() => importPart(() => import('./start.tsx')))
  startPart = { Start: StartPage }
}

// These requests start before anything is drawn.
if (isAt('/')) {
  askFirst(writtenQuery(written, true))
  if (sessionUser()) loadStart().catch(() => undefined)
}

/**
 * The page for logged-in users; undefined until it has loaded. It is loaded without a Suspense boundary, because React
 * shows the content of a suspended boundary with a delay.
 */
function useStartPage(wanted: boolean): StartPart['Start'] {
  const [{ Start, error }, setPart] = useState(startPart)
  useEffect(() => {
    if (!wanted || Start) return
    loadStart().then(
      () => setPart(startPart),
      (failure: unknown) => setPart({ error: failure }),
    )
  }, [wanted, Start])
  if (error !== undefined) throw error
  return Start
}

/**
 * `/`: logged-in users see their overview, followed by the text that an administrator wrote. Visitors see that text, or
 * a welcome page if there is none.
 */
export function HomePage() {
  const t = useText()
  const user = useSessionUser()
  const Start = useStartPage(user !== undefined)
  useNotice()
  const waiting = <Waiting />
  return (
    <div className="mx-auto w-full max-w-[1280px]">
      <PageHeading title={t('home.title')} className="sr-only" />
      {user ? (
        <div className="flex flex-col gap-4">
          {Start ? <Start user={user} /> : waiting}
          {Start && <WrittenCard />}
        </div>
      ) : (
        <Written empty={<Welcome />} loading={waiting} />
      )}
    </div>
  )
}

function Written({ empty, loading }: { empty: ReactNode; loading: ReactNode }) {
  const t = useText()
  const words = { title: t('home.title'), failed: t('home.failed') }
  return <WrittenPage {...written} {...words} empty={empty} loading={loading} quiet={false} />
}

/**
 * The administrator's text for logged-in users. It comes after everything else, so that nothing shifts when it loads.
 */
function WrittenCard() {
  const t = useText()
  const query = useQuery(writtenQuery(written, false))
  const { data, errorUpdateCount } = query
  if (data === undefined ? errorUpdateCount === 0 : data.trim() === '') return null
  const words = { title: t('home.title'), failed: t('home.failed') }
  return (
    <Card title={t('home.written')}>
      <WrittenContent {...words} storageKey={written.storageKey} query={query} empty={null} />
    </Card>
  )
}

/** A placeholder with the height of typical content, so that nothing shifts. */
function Waiting() {
  const t = useText()
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">{t('app.loading', { page: t('home.title') })}</span>
      <Skeleton className="h-8 w-40" />
      <RowsSkeleton className="h-64" />
      <RowsSkeleton className="h-64" />
    </div>
  )
}
