import { type Ref, useState } from 'react'
import { currencyToQuota, quotaToAmount } from '../../../contract/quota.ts'
import { quotaPerUnit } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { inputClass } from '../ui/input.tsx'

interface DollarBoxProps {
  id: string
  /** Quota units; undefined while the box is empty, and NaN while its text is not an amount. */
  value: number | undefined
  onChange(quota: number | undefined): void
  onBlur?: () => void
  inputRef?: Ref<HTMLInputElement>
  name?: string
  placeholder?: string
  disabled?: boolean | undefined
  invalid?: boolean
  describedBy?: string | undefined
  className?: string
}

/** A box for an amount in dollars. Its value is in quota units, which are shown beside the amount. */
export function DollarBox(props: DollarBoxProps) {
  const { id, value, onChange, onBlur, inputRef, name, placeholder, disabled, invalid, describedBy } = props
  const t = useText()
  const [typed, setTyped] = useState('')
  // The typed text is shown while it represents the value. If the value was changed elsewhere, the value is shown.
  const shown = Object.is(quotaOf(typed), value)
    ? typed
    : value === undefined
      ? ''
      : quotaToAmount(value, quotaPerUnit())
  const known = value !== undefined && Number.isFinite(value)
  return (
    <div className={`relative ${props.className ?? ''}`}>
      <span className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-muted" aria-hidden="true">
        $
      </span>
      <input
        id={id}
        ref={inputRef}
        name={name}
        type="text"
        inputMode="decimal"
        autoComplete="off"
        value={shown}
        placeholder={placeholder}
        disabled={disabled}
        aria-invalid={invalid || undefined}
        aria-describedby={describedBy}
        onChange={(event) => {
          setTyped(event.target.value)
          onChange(quotaOf(event.target.value))
        }}
        onBlur={() => {
          if (known) setTyped(quotaToAmount(value, quotaPerUnit()))
          onBlur?.()
        }}
        className={`${inputClass} num pl-6 ${known ? 'pr-36' : ''}`}
      />
      {known && (
        <output
          htmlFor={id}
          className="num pointer-events-none absolute inset-y-0 right-2.5 flex max-w-34 items-center text-sm text-muted"
        >
          <span className="truncate">{t('quota.units', { count: value })}</span>
        </output>
      )}
    </div>
  )
}

function quotaOf(typed: string): number | undefined {
  return typed.trim() === '' ? undefined : (currencyToQuota(typed, quotaPerUnit()) ?? Number.NaN)
}
