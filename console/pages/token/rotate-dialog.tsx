import { useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { hasOldKey, nameOf } from '../../components/token-parts.tsx'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { formatTime } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'
import { rotateKey } from './queries.ts'

/** How long the old key stays valid, in seconds. */
const choices = ['86400', '3600', '0'] as const

/** Asks how long the old key of a token stays valid, gives the token a new key, and shows it. */
export function RotateDialog({ token, onClose }: { token: Token; onClose(): void }) {
  const t = useText()
  const [keep, setKeep] = useState<string>(choices[0])
  const [busy, setBusy] = useState(false)
  const [rotated, setRotated] = useState<Token>()
  const name = nameOf(token, t)
  const rotate = async () => {
    setBusy(true)
    // If the call fails, it shows its own error.
    await rotateKey(token.id, Number(keep)).then(setRotated, () => undefined)
    setBusy(false)
  }
  if (rotated) {
    const text = hasOldKey(rotated)
      ? t('token.rotate.until', { time: formatTime(rotated.old_key_until) })
      : t('token.rotate.ended')
    return (
      <Dialog
        open
        onClose={onClose}
        title={t('token.rotate.done', { name })}
        text={text}
        footer={<Button onClick={onClose}>{t('do.close')}</Button>}
      >
        <CopyField label={t('token.key')} value={keyOf(rotated)} masked={maskedKey(rotated)} />
      </Dialog>
    )
  }
  const options = choices.map((value) => ({ value: value as string, label: t(`token.rotate.keep.${value}`) }))
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('token.rotate.title', { name })}
      text={t('token.rotate.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button look="primary" busy={busy} onClick={() => void rotate()}>
            {t('token.rotate.do')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-2 text-sm">
        <span className="font-medium">{t('token.rotate.keep')}</span>
        <Segmented label={t('token.rotate.keep')} options={options} value={keep} onChange={setKeep} wraps />
        <p className="text-muted">{t(keep === '0' ? 'token.rotate.nowHint' : 'token.rotate.laterHint')}</p>
        {hasOldKey(token) && <p className="text-muted">{t('token.rotate.older')}</p>}
      </div>
    </Dialog>
  )
}
