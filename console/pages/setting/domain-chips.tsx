import { X } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import type { ControlProps } from './control-props.ts'

/** Shows a list of names as chips, and a box to add a name; empty and duplicate names are not added. */
export function DomainChips({ option, form, id, describedBy, disabled }: ControlProps) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const inPlace = useFocusInPlace()
  const names = form
    .shown(option)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const change = (next: readonly string[]) => form.type(option.key, next.join(','))
  const add = () => {
    const fresh = typed.split(/[\s,]+/).filter((name) => name !== '')
    if (fresh.some((name) => !names.includes(name))) change([...new Set([...names, ...fresh])])
    setTyped('')
  }
  return (
    <div {...inPlace} className="flex flex-col gap-2">
      {names.length === 0 && <p className="text-sm text-muted">{t('setting.domains.none')}</p>}
      <ul className="flex flex-wrap gap-1.5">
        {names.map((name) => (
          <li
            key={name}
            className="flex min-h-7 max-w-full items-center gap-0.5 rounded-sm border border-line bg-sunken pr-0.5 pl-2 text-sm"
          >
            <span className="truncate" data-verbatim>
              {name}
            </span>
            {!disabled && (
              <button
                type="button"
                aria-label={t('form.remove', { name })}
                className="grid size-6 place-items-center rounded-sm text-muted hover:text-fg"
                onClick={() => change(names.filter((each) => each !== name))}
              >
                <X className="size-3.5" />
              </button>
            )}
          </li>
        ))}
      </ul>
      <div className="flex max-w-md gap-2">
        <Input
          id={id}
          value={typed}
          disabled={disabled}
          aria-describedby={describedBy}
          placeholder="example.com"
          spellCheck={false}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add()
          }}
        />
        <Button disabled={disabled} onClick={add}>
          {t('setting.domains.add')}
        </Button>
      </div>
    </div>
  )
}
