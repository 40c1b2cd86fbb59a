import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useEffect } from 'react'
import { pageSize } from '../../../contract/api/endpoint.ts'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'

/** Goes through the pages of a list in the drawer; nothing if there is only one. Pages count from 0. */
export function Pager(props: { page: number; rows: number; total: number | undefined; onPage(page: number): void }) {
  const { page, rows, total = 0, onPage } = props
  const t = useText()
  const from = page * pageSize
  const last = Math.max(0, Math.ceil(total / pageSize) - 1)
  // Goes to the last page if the current page no longer exists, because its rows were removed.
  useEffect(() => {
    if (page > last) onPage(last)
  }, [page, last, onPage])
  if (total <= pageSize) return null
  return (
    <nav aria-label={t('table.pages')} className="num flex items-center justify-between gap-2 text-sm text-muted">
      <p role="status">
        {t('user.peek.range', {
          from: formatCount(Math.min(from + 1, total)),
          to: formatCount(from + rows),
          total: formatCount(total),
        })}
      </p>
      <div className="flex items-center gap-0.5">
        <IconButton
          label={t('table.previous')}
          icon={<ChevronLeft />}
          disabled={page === 0}
          onClick={() => onPage(page - 1)}
        />
        <IconButton
          label={t('table.next')}
          icon={<ChevronRight />}
          disabled={from + pageSize >= total}
          onClick={() => onPage(page + 1)}
        />
      </div>
    </nav>
  )
}
