import type { FieldValues } from 'react-hook-form'
import { inputClass } from '../ui/input.tsx'
import { Field, type FieldProps } from './field.tsx'
import { Chip } from './number-field.tsx'

const two = (value: number) => String(value).padStart(2, '0')

/** Epoch seconds → the value of a datetime-local input, in local time. */
function toDateTimeInput(seconds: number): string {
  const at = new Date(seconds * 1000)
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** Value of a datetime-local input → epoch seconds; NaN if it is not a time. */
function fromDateTimeInput(value: string): number {
  return Math.ceil(new Date(value).getTime() / 1000)
}

/** A time preset: a fixed value (such as -1 for never), or seconds from now. */
export interface TimePreset {
  id: string
  label: string
  value?: number
  fromNowSeconds?: number
}

/**
 * A field for a point in time, in epoch seconds. If its value is a fixed preset, the preset's label is shown instead of
 * a time.
 */
export function DateTimeField<T extends FieldValues>(props: FieldProps<T> & { presets: readonly TimePreset[] }) {
  return (
    <Field {...props}>
      {({ id, field, invalid, describedBy }) => {
        const fixed = props.presets.find((preset) => preset.value === field.value)
        return (
          <>
            <input
              id={id}
              ref={field.ref}
              name={field.name}
              onBlur={field.onBlur}
              // For a fixed value, the label is shown, because the input would be empty.
              type={fixed ? 'text' : 'datetime-local'}
              step={1}
              value={fixed ? fixed.label : Number.isFinite(field.value) ? toDateTimeInput(field.value) : ''}
              readOnly={fixed !== undefined}
              onChange={(event) => field.onChange(fromDateTimeInput(event.target.value))}
              disabled={props.disabled}
              aria-invalid={invalid || undefined}
              aria-describedby={describedBy}
              className={`${inputClass} num`}
            />
            <div className="flex flex-wrap gap-1.5 pt-0.5">
              {props.presets.map((preset) => (
                <Chip
                  key={preset.id}
                  label={preset.label}
                  pressed={preset === fixed}
                  disabled={props.disabled}
                  onClick={() =>
                    field.onChange(preset.value ?? Math.ceil(Date.now() / 1000) + (preset.fromNowSeconds ?? 0))
                  }
                />
              ))}
            </div>
          </>
        )
      }}
    </Field>
  )
}
