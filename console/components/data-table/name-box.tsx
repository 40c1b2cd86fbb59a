import { useId, useState } from 'react'
import { Input } from '../ui/input.tsx'
import { KnownNames, type NamesOf } from './known-names.tsx'

interface NameBoxProps {
  label: string
  value: string
  onChange(value: string): void
  /** The kind of names that are suggested when the user focuses the box. */
  of?: NamesOf | undefined
  /** Called when the user leaves the box and has therefore finished typing. */
  onLeave?(): void
  /** A wider box, for ids. */
  wide?: boolean
}

/** A text box that filters a list by a name. */
export function NameBox({ label, value, onChange, of, onLeave, wide = false }: NameBoxProps) {
  const list = useId()
  const [near, setNear] = useState(false)
  return (
    <>
      <Input
        aria-label={label}
        placeholder={label}
        value={value}
        list={of && list}
        spellCheck={false}
        autoComplete="off"
        onFocus={() => setNear(true)}
        onBlur={onLeave}
        onChange={(event) => onChange(event.target.value)}
        className={wide ? 'sm:w-72!' : 'sm:w-28!'}
      />
      {near && of && <KnownNames id={list} of={of} />}
    </>
  )
}
