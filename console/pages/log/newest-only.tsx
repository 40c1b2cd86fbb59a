import { useText } from '../../lib/text.ts'

/**
 * Shows that the sorted list covers only this many rows, the newest. The message is below the list, where it shifts
 * nothing.
 */
export function NewestOnly({ rows }: { rows: number }) {
  const t = useText()
  return <p className="pt-1 text-sm text-muted">{t('log.sortedNewest', { count: rows })}</p>
}
