import { useEffect, useRef, useState } from 'react'
import { pageSize } from '../../../contract/api/endpoint.ts'
import { useText } from '../../lib/text.ts'
import type { ListState } from './use-list.ts'

interface ResultNewsProps {
  list: ListState<unknown>
  /** Changes whenever any parameter of the list changes. */
  asked: string
}

interface Result {
  asked: string
  text: string
}

/** Announces the result of a search, a filter or a page change to screen readers, once it has loaded. */
export function ResultNews({ list, asked }: ResultNewsProps) {
  const { settled } = list
  const text = useResultText(list)
  const known = useRef<Result>(undefined)
  const [news, setNews] = useState<Result>()
  useEffect(() => {
    if (!settled) return
    const before = known.current
    known.current = { asked, text }
    // The first result is not announced, because it is read as page content. Neither are rows that change without a
    // user action.
    if (before && before.asked !== asked) setNews({ asked, text })
  }, [settled, asked, text])
  return (
    <p role="status" className="sr-only">
      {/* Each request gets a new element, so that an identical result is announced again. */}
      {news && <span key={news.asked}>{news.text}</span>}
    </p>
  )
}

function useResultText({ rows, page, pages, total, size = pageSize }: ListState<unknown>): string {
  const t = useText()
  const count = total ?? rows.length
  if (pages === 1) return t('table.news', { count })
  const shown = { from: (page - 1) * size + 1, to: Math.min(count, page * size) }
  return total === undefined ? t('table.news.part', shown) : t('table.news.of', { count, ...shown })
}
