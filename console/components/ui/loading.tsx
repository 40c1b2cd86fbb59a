import { useText } from '../../lib/text.ts'

/** A message that a page or a part of it is loading, in the console's usual wording. */
export function Loading({ what }: { what?: string }) {
  const t = useText()
  return (
    <p role="status" className="px-4 py-14 text-center text-sm text-muted">
      {t('app.loading', { page: what ?? t('app.page') })}
    </p>
  )
}
