import type { FieldError, FieldValues } from 'react-hook-form'
import { maxQuota } from '../../../contract/api/fields.ts'
import { quotaToAmount } from '../../../contract/quota.ts'
import { formatQuota, quotaPerUnit, showsCurrency } from '../../lib/format.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { inputClass } from '../ui/input.tsx'
import { Field, type FieldProps } from './field.tsx'
import { DollarBox } from './quota-box.tsx'

interface NumberProps {
  min?: number
  max?: number
  step?: number | 'any'
  placeholder?: string
  unit?: string
}

/** The value of a number box: the number, or undefined while it is empty. */
function numberOf(value: string): number | undefined {
  return value.trim() === '' ? undefined : Number(value)
}

/** A number field. Its value is a number, or undefined while the box is empty. */
export function NumberField<T extends FieldValues>(props: FieldProps<T> & NumberProps) {
  const { min, max, step, placeholder, unit } = props
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <div className="relative">
          <input
            {...field}
            {...{ id, min, max, step, placeholder }}
            type="number"
            value={field.value ?? ''}
            onChange={(event) => field.onChange(numberOf(event.target.value))}
            disabled={props.disabled}
            aria-invalid={invalid || undefined}
            aria-describedby={describedBy}
            className={`${inputClass} num ${unit === undefined ? '' : 'pr-20'}`}
          />
          {unit !== undefined && (
            <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-sm text-muted">
              {unit}
            </span>
          )}
        </div>
      )}
    </Field>
  )
}

const presets = [1, 5, 10, 100]

/**
 * A quota field. Its value is in quota units. If the installation shows currency, the user types dollars, and there are
 * buttons for round amounts.
 */
export function QuotaField<T extends FieldValues>(props: FieldProps<T> & { min?: number; presets?: boolean }) {
  const t = useText()
  useServerStatus()
  const { min = -maxQuota } = props
  if (!showsCurrency()) return <NumberField {...props} step={1} />
  // The limits are in units, but a user who types dollars should see them in dollars.
  const problem = ({ type, message }: FieldError) => {
    if (type === 'too_small') return t('form.min', { min: dollars(min) })
    return type === 'too_big' ? t('form.max', { max: dollars(maxQuota) }) : message
  }
  return (
    <Field {...props} problem={problem}>
      {({ id, field, invalid, describedBy }) => (
        <>
          <DollarBox
            id={id}
            name={field.name}
            inputRef={field.ref}
            value={field.value}
            onChange={field.onChange}
            onBlur={field.onBlur}
            disabled={props.disabled}
            invalid={invalid}
            describedBy={describedBy}
          />
          {props.presets !== false && (
            <div className="flex flex-wrap gap-1.5 pt-0.5">
              {presets.map((amount) => (
                <Chip
                  key={amount}
                  label={`$${amount}`}
                  name={t('form.quota.add', { amount: `$${amount}` })}
                  disabled={props.disabled}
                  onClick={() => field.onChange(Math.round(amount * quotaPerUnit()))}
                />
              ))}
            </div>
          )}
        </>
      )}
    </Field>
  )
}

/** Quota units as an exact amount. */
function dollars(quota: number): string {
  const [, decimals = ''] = quotaToAmount(quota, quotaPerUnit()).split('.')
  return formatQuota(quota, decimals.length)
}

/** A small button that fills a field. `pressed` marks the current choice. */
export function Chip(props: {
  label: string
  name?: string
  pressed?: boolean
  disabled?: boolean | undefined
  onClick(): void
}) {
  return (
    <button
      type="button"
      aria-label={props.name}
      aria-pressed={props.pressed}
      disabled={props.disabled}
      onClick={props.onClick}
      className="num h-6 rounded-full border border-edge px-2.5 text-xs text-muted transition-colors enabled:hover:bg-hover enabled:hover:text-fg disabled:opacity-50 aria-pressed:border-accent aria-pressed:bg-tint aria-pressed:text-link max-sm:h-9 max-sm:px-3.5"
    >
      {props.label}
    </button>
  )
}
