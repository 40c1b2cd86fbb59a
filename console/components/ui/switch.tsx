import type { ComponentProps } from 'react'

/**
 * An on/off switch without its label. The page decides whether it takes effect immediately or when the form is saved.
 */
export function Switch({ className = '', ...rest }: Omit<ComponentProps<'input'>, 'type' | 'role'>) {
  return (
    <span className={`relative inline-flex shrink-0 ${className}`}>
      <input
        type="checkbox"
        role="switch"
        aria-checked={rest.checked ?? rest.defaultChecked ?? false}
        {...rest}
        className="peer h-5 w-9 max-sm:h-6 max-sm:w-10 cursor-pointer appearance-none rounded-full bg-control transition-colors checked:bg-accent disabled:cursor-default disabled:opacity-50 forced-colors:border"
      />
      <span className="pointer-events-none absolute top-0.5 left-0.5 size-4 max-sm:size-5 rounded-full bg-on-accent shadow-control transition-transform peer-checked:translate-x-4 forced-colors:bg-[ButtonText]" />
    </span>
  )
}
