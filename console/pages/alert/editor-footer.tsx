import { Button } from '../../components/ui/button.tsx'
import { useText } from '../../lib/text.ts'

/** The buttons at the end of a form in a drawer; they stay visible while the form scrolls. */
export function EditorFooter({ busy, onCancel }: { busy: boolean; onCancel(): void }) {
  const t = useText()
  return (
    <div className="sticky -bottom-4 -mx-5 -mb-4 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3">
      <Button onClick={onCancel}>{t('do.cancel')}</Button>
      <Button type="submit" look="primary" busy={busy}>
        {t('do.save')}
      </Button>
    </div>
  )
}
