import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Printer } from 'lucide-react'
import type { Redemption } from '../../../contract/api/redemption.ts'
import { Pagination } from '../../components/data-table/pagination.tsx'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { Card, Page } from '../../components/ui/page.tsx'
import { QrCode } from '../../components/ui/qr-code.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/ui/states.tsx'
import { usePageCrumb } from '../../lib/crumb.ts'
import { formatTime, useFormatQuota } from '../../lib/format.ts'
import { serverAddress } from '../../lib/server-address.ts'
import { hasMoreCalls, useClassicServer, useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { sheetQuery, sheetSize } from './queries.ts'
import { parseSheetSearch } from './search.ts'

/** `/redemption/sheet`: the unused codes of a batch as QR codes, for the printer. */
export function RedemptionSheetPage() {
  const t = useText()
  usePageCrumb(t('redemption.sheet.title'), '/redemption')
  const [search, setSearch] = useUrlState(parseSheetSearch)
  const classic = useClassicServer()
  const status = useServerStatus()
  const { batch = '', page = 1 } = search
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    ...sheetQuery(batch, page),
    enabled: hasMoreCalls(status) && batch !== '',
  })
  const hasCodes = data !== undefined && data.codes.length > 0
  const actions = (
    <div className="flex flex-wrap items-center gap-2 print:hidden">
      <Link to="/redemption/batches" className={buttonClass()}>
        {t('redemption.batches')}
      </Link>
      <Button
        look="primary"
        icon={<Printer />}
        disabled={!hasCodes || isPlaceholderData}
        onClick={() => window.print()}
      >
        {t('redemption.sheet.print')}
      </Button>
    </div>
  )
  const about =
    batch === '' ? undefined : t('redemption.sheet.text', { name: batch, address: `${serverAddress()}/topup` })
  return (
    <Page title={t('redemption.sheet.title')} actions={actions}>
      {classic || batch === '' ? (
        <Card>
          <EmptyState title={t(classic ? 'redemption.batches.classic' : 'redemption.sheet.noBatch')} />
        </Card>
      ) : error ? (
        <ErrorState
          title={t('redemption.sheet.failed')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      ) : !data ? (
        <Skeleton className="h-[30rem] w-full rounded-lg" />
      ) : !hasCodes ? (
        <Card>
          <EmptyState title={t('redemption.sheet.none')} />
        </Card>
      ) : (
        <div aria-busy={isPlaceholderData} className={isPlaceholderData ? 'opacity-60' : ''}>
          <p className="mb-3 text-sm text-muted">{about}</p>
          <Sheet codes={data.codes} />
          {data.total > sheetSize && (
            <div className="print:hidden">
              <Pagination
                page={page}
                pages={Math.ceil(data.total / sheetSize)}
                total={data.total}
                onPage={(next) => setSearch({ page: next > 1 ? next : undefined })}
                onNear={() => undefined}
              />
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

function Sheet({ codes }: { codes: readonly Redemption[] }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  return (
    <ul
      aria-label={t('redemption.sheet.codes')}
      className="grid grid-cols-[repeat(auto-fill,minmax(11rem,1fr))] gap-3 print:grid-cols-3"
    >
      {codes.map(({ id, key, name, quota, expired_time }) => (
        <li
          key={id}
          className="flex break-inside-avoid flex-col items-center gap-1 rounded-md border border-line bg-surface p-3 text-center text-sm"
        >
          <QrCode text={key} label={t('redemption.sheet.picture', { code: key.slice(-4) })} size="size-32" />
          <code className="max-w-full font-mono text-xs break-all">{key}</code>
          <span className="font-medium">{formatQuota(quota)}</span>
          <span className="max-w-full truncate text-muted">{name}</span>
          {expired_time > 0 && (
            <span className="text-muted">{t('redemption.sheet.until', { time: formatTime(expired_time) })}</span>
          )}
        </li>
      ))}
    </ul>
  )
}
