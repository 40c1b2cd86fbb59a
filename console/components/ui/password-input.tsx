import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { useText } from '../../lib/text.ts'
import { IconButton } from './icon-button.tsx'
import { inputClass } from './input.tsx'

/** A box for a password. The user can show the password, and a hint appears while Caps Lock is on. */
export function PasswordInput(props: Omit<ComponentProps<'input'>, 'type' | 'className' | 'onKeyUp'>) {
  const t = useText()
  const [shown, setShown] = useState(false)
  const [caps, setCaps] = useState(false)
  return (
    <>
      <div className="relative">
        <input
          {...props}
          type={shown ? 'text' : 'password'}
          onKeyUp={(event) => setCaps(event.getModifierState('CapsLock'))}
          className={`${inputClass} pr-10`}
        />
        <IconButton
          className="absolute top-1/2 right-0.5 -translate-y-1/2"
          label={t(shown ? 'password.hide' : 'password.show')}
          aria-pressed={shown}
          icon={shown ? <EyeOff /> : <Eye />}
          onClick={() => setShown(!shown)}
        />
      </div>
      {caps && <p className="text-sm text-warn">{t('password.caps')}</p>}
    </>
  )
}
