import { Button } from '../../components/ui/button.tsx'
import { PasswordInput } from '../../components/ui/password-input.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import type { ControlProps } from './control-props.ts'
import { optionName } from './option-names.ts'
import { saveOption } from './queries.ts'

/** A control for a secret. The stored secret is never shown. A typed text replaces it, and a button removes it. */
export function SecretControl({ option, form, id, describedBy, invalid, disabled }: ControlProps) {
  const t = useText()
  const [ask, question] = useConfirm()
  const name = optionName(option)
  const clear = () =>
    ask({
      title: t('setting.secret.clear.ask', { name }),
      text: t('setting.secret.clear.text'),
      confirm: t('setting.secret.clear'),
      danger: true,
      onConfirm: async () => {
        await saveOption(option.key, '')
        form.type(option.key, undefined)
        toast.success(t('done.ok'))
      },
    })
  // If the server does not report whether the secret is set, it is assumed to be set.
  const isSet = option.is_set !== false
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">
        <PasswordInput
          id={id}
          value={form.drafts[option.key] ?? ''}
          onChange={(event) => form.type(option.key, event.target.value)}
          placeholder={t(isSet ? 'setting.secret.set' : 'setting.secret.unset')}
          autoComplete="new-password"
          disabled={disabled}
          aria-describedby={describedBy}
          aria-invalid={invalid || undefined}
        />
      </div>
      {option.is_set === true && !disabled && (
        <Button aria-label={`${t('setting.secret.clear')}: ${name}`} onClick={clear}>
          {t('setting.secret.clear')}
        </Button>
      )}
      {question}
    </div>
  )
}
