import { useText } from '../../lib/text.ts'

/** Says that the list is sorted and has so many rows, the newest. It stands below the list, where it moves nothing. */
export function NewestOnly({ rows }: { rows: number }) {
  const t = useText()
  return <p className="pt-1 text-sm text-muted">{t('log.sortedNewest', { count: rows })}</p>
}
