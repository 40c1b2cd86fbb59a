import type { ReactNode } from 'react'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'

/** A label above a box. */
export function Labelled({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
    </div>
  )
}

/** A message about the box that it is connected to by `aria-describedby`. */
export function BoxError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p id={id} role="alert" className="text-sm break-words text-bad">
      {children}
    </p>
  )
}

interface NumberBoxProps {
  id: string
  label: string
  value: string
  error: string | undefined
  onChange(value: string): void
}

/** A box for a number that may stay empty. */
export function NumberBox({ id, label, value, error, onChange }: NumberBoxProps) {
  const t = useText()
  return (
    <Labelled id={id} label={label}>
      <Input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        className="num"
        value={value}
        placeholder={t('playground.auto')}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onChange={(event) => onChange(event.target.value)}
      />
      {error !== undefined && <BoxError id={`${id}-error`}>{error}</BoxError>}
    </Labelled>
  )
}
