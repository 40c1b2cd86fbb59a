import { useText } from '../../lib/text.ts'

/**
 * Says that the list is sorted and covers only this many rows, the newest. Shown below the list, where it shifts
 * nothing.
 */
export function NewestOnly({ rows }: { rows: number }) {
  const t = useText()
  return <p className="pt-1 text-sm text-muted">{t('log.sortedNewest', { count: rows })}</p>
}
