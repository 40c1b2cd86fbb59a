import { type ReactNode, useId } from 'react'

interface FormSectionProps {
  title: string
  /** The number of the step, shown before the heading. */
  step?: number
  /** Text below the heading, about all fields of the section. */
  hint?: string
  children: ReactNode
}

/** A section of the channel form with its heading. */
export function FormSection({ title, step, hint, children }: FormSectionProps) {
  const id = useId()
  return (
    <fieldset
      aria-describedby={hint === undefined ? undefined : id}
      className="flex min-w-0 flex-col gap-5 border-t border-line pt-4 first:border-0 first:pt-0"
    >
      <legend className="float-left flex w-full items-center gap-2 text-base font-medium">
        {step !== undefined && (
          <span
            className="num grid size-5 shrink-0 place-items-center rounded-full bg-tint text-xs font-semibold text-link"
            aria-hidden="true"
          >
            {step}
          </span>
        )}
        {title}
      </legend>
      {hint !== undefined && (
        <p id={id} className="-mt-4 text-sm text-muted">
          {hint}
        </p>
      )}
      {children}
    </fieldset>
  )
}
