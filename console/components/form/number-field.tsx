import type { FieldValues } from 'react-hook-form'
import { quotaPerUnit, showsCurrency, useFormatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { inputClass } from '../ui/input.tsx'
import { Field, type FieldProps } from './field.tsx'

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

/** A quota field: a whole number of units, with its value in dollars beside the label and buttons for round amounts. */
export function QuotaField<T extends FieldValues>(props: FieldProps<T> & { min?: number; presets?: boolean }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const currency = showsCurrency()
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => (
        <>
          <div className="relative">
            <input
              {...field}
              id={id}
              type="number"
              step={1}
              min={props.min}
              value={field.value ?? ''}
              onChange={(event) => field.onChange(numberOf(event.target.value))}
              disabled={props.disabled}
              aria-invalid={invalid || undefined}
              aria-describedby={describedBy}
              className={`${inputClass} num ${currency ? 'pr-52' : ''}`}
            />
            {currency && typeof field.value === 'number' && Number.isFinite(field.value) && (
              <output
                htmlFor={id}
                className="num pointer-events-none absolute inset-y-0 right-8 flex items-center text-sm text-muted"
              >
                {t('form.quota.worth', { amount: formatQuota(field.value) })}
              </output>
            )}
          </div>
          {currency && props.presets !== false && (
            <div className="flex flex-wrap gap-1.5 pt-0.5">
              {presets.map((dollars) => (
                <Chip
                  key={dollars}
                  label={`$${dollars}`}
                  name={t('form.quota.add', { amount: `$${dollars}` })}
                  disabled={props.disabled}
                  onClick={() => field.onChange(Math.round(dollars * quotaPerUnit()))}
                />
              ))}
            </div>
          )}
        </>
      )}
    </Field>
  )
}

/** A small button that fills a field; `pressed` marks the current one. */
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
