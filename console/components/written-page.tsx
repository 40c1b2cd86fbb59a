import { queryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type ReactNode, Suspense, useEffect } from 'react'
import type { Endpoint } from '../../contract/api/endpoint.ts'
import { CallError, type CallInput, type CallOptions, call, showFailure } from '../lib/call.ts'
import { lazy } from '../lib/lazy.ts'
import { readStored, type StorageKey, writeStored } from '../lib/storage.ts'
import { useText } from '../lib/text.ts'
import { ErrorState, Skeleton } from './ui/states.tsx'

const SafeHtml = lazy(() => import('./safe-html.tsx').then((it) => ({ default: it.SafeHtml })))

interface WrittenText<E extends Endpoint> {
  /** The endpoint that returns the text: Markdown, HTML, or an https address to show in a frame. */
  endpoint: E
  input: CallInput<E>
  /** Where the last text is stored, so that it can be shown immediately on the next visit. */
  storageKey: StorageKey
}

interface WrittenPageProps<E extends Endpoint> extends WrittenText<E> {
  /** Title of the frame. */
  title: string
  failed: string
  /** Shown if no text was written. */
  empty: ReactNode
  /** Shown until the text has loaded; as high as typical content. */
  loading?: ReactNode
  /**
   * If false, failures are also shown in a toast. The page itself may show the text of an earlier visit instead of the
   * error.
   */
  quiet?: boolean
}

/**
 * The query for a text that an administrator wrote. Until the text has loaded, the result is the text from the last
 * visit.
 */
export function writtenQuery<E extends Endpoint>(of: WrittenText<E>, quiet: boolean) {
  const { endpoint, input, storageKey } = of
  return queryOptions({
    queryKey: ['written', storageKey],
    queryFn: ({ signal }) => textOf(endpoint, input, { signal, quiet }),
    initialData: () => readStored(storageKey),
    initialDataUpdatedAt: 0,
  })
}

/** A page whose content an administrator wrote. */
export function WrittenPage<E extends Endpoint>(props: WrittenPageProps<E>) {
  const { endpoint, input, storageKey, quiet = true } = props
  return <WrittenContent {...props} query={useQuery(writtenQuery({ endpoint, input, storageKey }, quiet))} />
}

interface WrittenContentProps
  extends Pick<WrittenPageProps<Endpoint>, 'storageKey' | 'title' | 'failed' | 'empty' | 'loading'> {
  query: UseQueryResult<string>
}

/** Shows the result of `writtenQuery`, for components that need the result for other decisions as well. */
export function WrittenContent(props: WrittenContentProps) {
  const { storageKey, title, failed, empty, loading, query } = props
  const t = useText()
  const { data, error, refetch, isFetching } = query
  useEffect(() => {
    if (data !== undefined && !isFetching) writeStored(storageKey, data === '' ? undefined : data)
  }, [data, isFetching, storageKey])
  if (data === undefined) {
    if (error)
      return <ErrorState title={failed} text={error.message} onRetry={() => void refetch()} busy={isFetching} />
    if (loading !== undefined) return loading
    return (
      <div role="status" className="flex flex-col gap-3 py-2">
        <span className="sr-only">{t('app.loading', { page: title })}</span>
        <Skeleton className="h-6 w-1/3" />
        <Skeleton className="h-4 w-full" />
        <Skeleton className="h-4 w-5/6" />
      </div>
    )
  }
  if (data.trim() === '') return empty
  if (data.startsWith('https://')) {
    return (
      <iframe
        src={data.trim()}
        title={title}
        sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
        className="h-[calc(100dvh-9rem)] w-full rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <Suspense fallback={<Skeleton className="h-40 w-full" />}>
      <SafeHtml source={data} />
    </Suspense>
  )
}

/** The text; empty if the server does not have this endpoint. */
async function textOf<E extends Endpoint>(endpoint: E, input: CallInput<E>, options: CallOptions): Promise<string> {
  try {
    return String((await call(endpoint, input, { ...options, quiet: true })) ?? '')
  } catch (error) {
    if (error instanceof CallError && error.status === 404) return ''
    if (error instanceof CallError && error.status !== 401 && !options.quiet) showFailure(error)
    throw error
  }
}
