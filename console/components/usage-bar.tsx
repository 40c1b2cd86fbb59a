interface UsageBarProps {
  label: string
  /** From 0 to 100. */
  percent: number
  /** The amounts in words, for screen readers. */
  text: string
  /** The class with the colour of the bar. */
  color: string
}

/** A bar that shows how much of a limit is used. It must be inside a `<dl>` with a grid, where it fills two columns. */
export function UsageBar({ label, percent, text, color }: UsageBarProps) {
  return (
    <dd className="col-span-2">
      {/* biome-ignore lint/a11y/useSemanticElements: the bar of a <meter> cannot have our colours */}
      <div
        role="meter"
        aria-label={label}
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={text}
      >
        <svg viewBox="0 0 100 4" className="block h-1 w-full rounded-sm" aria-hidden="true" preserveAspectRatio="none">
          <rect width="100" height="4" className="fill-active" />
          <rect width={percent} height="4" className={color} />
        </svg>
      </div>
    </dd>
  )
}
