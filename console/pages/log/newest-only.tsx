import { useText } from '../../lib/text.ts'

/**
 * Tells the user that the sorted list covers only the newest rows, and how many. The message is below the list, where
 * it does not shift anything.
 */
export function NewestOnly({ rows }: { rows: number }) {
  const t = useText()
  return <p className="pt-1 text-sm text-muted">{t('log.sortedNewest', { count: rows })}</p>
}
