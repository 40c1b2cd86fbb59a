interface SegmentedProps<T extends string> {
  /** Describes the choice to screen readers. */
  label: string
  options: readonly { value: T; label: string }[]
  value: T
  onChange(value: T): void
  /** If there is not enough space, the options wrap onto several lines instead of scrolling sideways. */
  wraps?: boolean
}

/** A choice between a few options that are all visible. With the keyboard, it works like a group of radio buttons. */
export function Segmented<T extends string>({ label, options, value, onChange, wraps = false }: SegmentedProps<T>) {
  return (
    <fieldset
      className={`relative inline-flex max-w-full min-w-0 rounded-md border border-edge bg-sunken p-0.5 ${wraps ? 'flex-wrap' : 'overflow-x-auto'}`}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={`flex cursor-pointer items-center rounded-[5px] px-2.5 text-sm text-muted hover:text-fg has-checked:bg-raised has-checked:text-fg has-checked:shadow-control has-focus-visible:outline-2 has-focus-visible:outline-ring ${wraps ? 'min-h-6.5 min-w-0 max-sm:min-h-9' : 'h-6.5 whitespace-nowrap max-sm:h-9'}`}
        >
          <input
            type="radio"
            className="sr-only"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
