import { useId, useState } from 'react'
import { optionApi } from '../../../contract/api/option.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { CallError, call } from '../../lib/call.ts'
import { isRoot, useSessionUser } from '../../lib/session.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { OptionForm } from './use-option-form.ts'

/** Sends a test email with the saved settings. After a failure, the page shows the mail server's message. */
export function MailTest({ form }: { form: OptionForm }) {
  const t = useText()
  const user = useSessionUser()
  const id = useId()
  const [email, setEmail] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const unsaved = form.changed.some(({ section }) => section === 'mail')
  const send = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await call(optionApi.testMail, { body: { email: email.trim() } }, { quiet: true })
      toast.success(t('setting.mailTest.done'))
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      setFailure(error.message)
    } finally {
      setBusy(false)
    }
  }
  if (!isRoot(user)) return null
  return (
    <form
      className="flex flex-col gap-2 py-4"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <label className="flex min-w-0 flex-1 basis-48 flex-col gap-1 text-sm font-medium sm:max-w-xs">
          {t('setting.mailTest.to')}
          <Input
            type="email"
            value={email}
            placeholder={user?.email || t('setting.mailTest.own')}
            onChange={(event) => setEmail(event.target.value)}
            autoComplete="email"
            aria-invalid={failure !== undefined || undefined}
            aria-describedby={failure === undefined ? undefined : `${id}-failure`}
          />
        </label>
        <Button type="submit" busy={busy} disabled={unsaved} aria-describedby={unsaved ? `${id}-unsaved` : undefined}>
          {t('setting.mailTest')}
        </Button>
      </div>
      {unsaved && (
        <p id={`${id}-unsaved`} className="text-sm text-muted">
          {t('setting.mailTest.unsaved')}
        </p>
      )}
      {failure !== undefined && (
        <Banner kind="bad" live title={t('setting.mailTest.failed')}>
          <p id={`${id}-failure`} className="break-words" data-verbatim>
            {failure}
          </p>
        </Banner>
      )}
    </form>
  )
}
