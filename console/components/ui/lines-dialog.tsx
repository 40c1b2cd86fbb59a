import { useText } from '../../lib/text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Textarea } from './input.tsx'

/** Lines to copy by hand. */
export function LinesDialog({ lines, onClose }: { lines: string; onClose(): void }) {
  const t = useText()
  return (
    <Dialog
      open
      onClose={onClose}
      width="large"
      title={t('table.byHand')}
      text={t('table.byHand.text')}
      footer={<Button onClick={onClose}>{t('do.close')}</Button>}
    >
      <Textarea
        aria-label={t('table.byHand.lines')}
        readOnly
        value={lines}
        rows={Math.min(12, Math.max(2, lines.split('\n').length))}
        className="font-mono text-sm!"
        onFocus={(event) => event.target.select()}
      />
    </Dialog>
  )
}
