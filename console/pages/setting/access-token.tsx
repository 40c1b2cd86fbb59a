import { useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { Card } from '../../components/ui/page.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { absoluteUrl } from '../../lib/base-path.ts'
import { copyText } from '../../lib/clipboard.ts'
import { useText } from '../../lib/text.ts'
import { inviteCode, newAccessToken } from './queries.ts'

/** Creates an access token for the management API. The token is copied and shown only once. */
export function AccessToken() {
  const t = useText()
  const [token, setToken] = useState<string>()
  const [ask, question] = useConfirm()
  const make = () =>
    ask({
      title: t('setting.token.ask'),
      text: t('setting.token.ask.text'),
      confirm: t('setting.token.make'),
      onConfirm: async () => {
        const made = await newAccessToken()
        setToken(made)
        await copyText(made, { done: t('setting.token.done') })
      },
    })
  return (
    <Card title={t('setting.token')}>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-xl text-sm text-muted">{t('setting.token.text')}</p>
        <Button className="max-w-full shrink! text-wrap!" onClick={make}>
          {t('setting.token.make')}
        </Button>
      </div>
      {token !== undefined && (
        <div className="mt-3 flex flex-col gap-1">
          <CopyField label={t('setting.token')} value={token} />
          <p role="status" className="text-sm text-warn">
            {t('setting.token.once')}
          </p>
        </div>
      )}
      {question}
    </Card>
  )
}

/** A button that copies the user's invitation link for registration. */
export function InviteLink() {
  const t = useText()
  const [link, setLink] = useState<string>()
  const [busy, setBusy] = useState(false)
  const copy = async () => {
    setBusy(true)
    try {
      const made = absoluteUrl(`/register?aff=${await inviteCode()}`)
      setLink(made)
      await copyText(made, { done: t('setting.invite.done') })
    } catch {
      // The call has already shown why it failed.
    }
    setBusy(false)
  }
  return (
    <Card title={t('setting.invite')}>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-xl text-sm text-muted">{t('setting.invite.text')}</p>
        <Button className="max-w-full shrink! text-wrap!" busy={busy} onClick={() => void copy()}>
          {t('setting.invite.copy')}
        </Button>
      </div>
      {link !== undefined && (
        <div className="mt-3">
          <CopyField label={t('setting.invite')} value={link} />
        </div>
      )}
    </Card>
  )
}
