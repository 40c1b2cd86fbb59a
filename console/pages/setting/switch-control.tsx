import { useState } from 'react'
import { Switch } from '../../components/ui/switch.tsx'
import { useConfirm } from '../../components/ui/use-confirm.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { toastWithUndo } from '../../lib/undo.ts'
import type { ControlProps } from './control-props.ts'
import { afterSaving, saveOption } from './queries.ts'

const passwordLogin = 'PasswordLoginEnabled'
const otherLogins = ['GitHubOAuthEnabled', 'WeChatAuthEnabled']

/**
 * A switch that is saved immediately and offers to undo the change. Turning password login off asks for confirmation
 * first.
 */
export function SwitchControl({ option, form, id, describedBy, disabled }: ControlProps) {
  const t = useText()
  const [ask, question] = useConfirm()
  const [wanted, setWanted] = useState<boolean>()
  const { key } = option
  const save = async (on: boolean) => {
    await saveOption(key, String(on))
    await afterSaving([key])
  }
  const change = async (on: boolean) => {
    setWanted(on)
    try {
      await save(on)
      // Turning password login on offers no undo, because undoing would turn it off without confirmation.
      if (key === passwordLogin && on) toast.success(t('done.ok'))
      else toastWithUndo(t('done.ok'), () => save(!on))
    } finally {
      setWanted(undefined)
    }
  }
  const others = otherLogins.filter((other) => form.find(other)?.value === 'true').length
  const toggle = (on: boolean) => {
    if (wanted !== undefined) return
    if (key !== passwordLogin || on) return void change(on).catch(() => undefined)
    ask({
      title: t('setting.passwordLogin.title'),
      text: t('setting.passwordLogin.text', { count: others }),
      confirm: t('setting.passwordLogin.confirm'),
      danger: true,
      onConfirm: () => change(false),
    })
  }
  return (
    <>
      <Switch
        id={id}
        checked={wanted ?? option.value === 'true'}
        disabled={disabled}
        aria-describedby={describedBy}
        aria-busy={wanted !== undefined || undefined}
        onChange={(event) => toggle(event.target.checked)}
      />
      {question}
    </>
  )
}
