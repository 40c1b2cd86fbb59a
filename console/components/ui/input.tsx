import type { ComponentProps } from 'react'

/** Styles of text boxes and select boxes. */
export const inputClass =
  'h-8 w-full min-w-0 rounded-md border border-control bg-surface px-2.5 text-base text-fg shadow-control transition-colors hover:border-muted focus-visible:outline-offset-0 disabled:bg-sunken disabled:text-muted [&:is(input,textarea):read-only]:bg-sunken aria-invalid:border-bad max-sm:h-10 max-sm:text-lg'

/** A text box without its label; forms use the fields of components/form. */
export function Input({ className = '', ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={`${inputClass} ${className}`} />
}

/** A box for several lines. */
export function Textarea({ className = '', ...rest }: ComponentProps<'textarea'>) {
  return <textarea rows={4} {...rest} className={`${inputClass} h-auto! py-1.5 leading-5 ${className}`} />
}
