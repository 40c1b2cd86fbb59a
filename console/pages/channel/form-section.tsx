import type { ReactNode } from 'react'

/** A section of the channel form with its heading. */
export function FormSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-5 border-t border-line pt-4 first:border-0 first:pt-0">
      <legend className="float-left w-full text-base font-medium">{title}</legend>
      {children}
    </fieldset>
  )
}
