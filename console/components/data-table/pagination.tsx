import { ChevronLeft, ChevronRight, ChevronsLeft, ChevronsRight } from 'lucide-react'
import { pageSizes } from '../../lib/page-size.ts'
import { useText } from '../../lib/text.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { Select } from '../ui/select.tsx'
import { pageNumbers } from './page-numbers.ts'

interface PaginationProps {
  page: number
  pages: number
  total: number | undefined
  size?: number | undefined
  /** Changes the number of rows per page; without it, the number cannot be chosen. */
  onSize?: ((size: number) => void) | undefined
  onPage(page: number): void
  /** Called when the pointer or the focus is on a link to that page. */
  onNear(page: number): void
}

/**
 * Links to the first and previous page, to numbered pages, and to the next and last page. The current page is marked.
 */
export function Pagination({ page, pages, total, size, onSize, onPage, onNear }: PaginationProps) {
  const t = useText()
  const near = (of: number) => ({ onPointerEnter: () => onNear(of), onFocus: () => onNear(of) })
  return (
    <nav aria-label={t('table.pages')} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2">
      <div className="flex max-w-full min-w-0 flex-wrap items-center gap-x-4 gap-y-2">
        <p className="num text-sm text-muted">
          {total === undefined ? t('table.page', { page }) : t('table.pageOf', { page, pages })}
          {total !== undefined && ` · ${t('table.total', { total })}`}
        </p>
        {onSize && (
          <Select
            aria-label={t('table.size')}
            value={size}
            onChange={(event) => onSize(Number(event.target.value))}
            className="h-7! w-auto! max-w-full text-sm"
          >
            {pageSizes.map((each) => (
              <option key={each} value={each}>
                {t('table.size.rows', { count: each })}
              </option>
            ))}
          </Select>
        )}
      </div>
      <div className="flex items-center gap-0.5">
        <IconButton label={t('table.first')} icon={<ChevronsLeft />} disabled={page <= 1} onClick={() => onPage(1)} />
        <IconButton
          label={t('table.previous')}
          icon={<ChevronLeft />}
          disabled={page <= 1}
          onClick={() => onPage(page - 1)}
        />
        {pageNumbers(page, pages).map((of, index) =>
          of === 0 ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a gap has no other identity
            <span key={`gap-${index}`} className="px-1 text-muted" aria-hidden="true">
              …
            </span>
          ) : (
            <button
              key={of}
              type="button"
              aria-label={t('table.page', { page: of })}
              aria-current={of === page ? 'page' : undefined}
              onClick={() => onPage(of)}
              {...near(of)}
              className="num h-7 min-w-7 rounded-md px-1.5 text-sm text-muted hover:bg-hover aria-[current=page]:bg-active aria-[current=page]:font-medium aria-[current=page]:text-fg max-sm:hidden"
            >
              {of}
            </button>
          ),
        )}
        <IconButton
          label={t('table.next')}
          icon={<ChevronRight />}
          disabled={page >= pages}
          onClick={() => onPage(page + 1)}
          {...near(page + 1)}
        />
        <IconButton
          label={t('table.last')}
          icon={<ChevronsRight />}
          disabled={page >= pages}
          onClick={() => onPage(pages)}
          {...near(pages)}
        />
      </div>
    </nav>
  )
}
