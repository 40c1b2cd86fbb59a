import type { ReactNode } from 'react'

interface FormSectionProps {
  title: string
  /** The number of the step, shown before the heading. */
  step?: number
  children: ReactNode
}

/** A section of the channel form with its heading. */
export function FormSection({ title, step, children }: FormSectionProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-5 border-t border-line pt-4 first:border-0 first:pt-0">
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
      {children}
    </fieldset>
  )
}
