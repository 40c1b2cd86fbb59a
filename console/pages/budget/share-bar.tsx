import { formatPercent } from '../../lib/format.ts'

/** Above the share `near`, a limit counts as nearly used up, and above `critical` as almost completely used up. */
const near = 0.8
const critical = 0.95
/** The largest share that is shown as a number. A limit that was lowered may be exceeded many times over. */
const mostShown = 9.99

/** How much of a limit is used: a bar and a percentage. */
export function ShareBar({ share }: { share: number }) {
  const [text, bar] =
    share > critical ? ['text-bad', 'fill-red'] : share > near ? ['text-warn', 'fill-orange'] : ['', 'fill-accent']
  const width = Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <span className="inline-flex w-32 items-center gap-2">
      <svg
        viewBox="0 0 100 6"
        className="block h-1.5 min-w-0 flex-1 rounded-sm"
        aria-hidden="true"
        preserveAspectRatio="none"
      >
        <rect width="100" height="6" className="fill-active" />
        <rect width={width} height="6" className={bar} />
      </svg>
      {/* The share is rounded down, so that 100 % appears only if nothing is left. */}
      <span className={`num w-12 shrink-0 text-end ${text}`}>
        {share > mostShown && '>'}
        {formatPercent(Math.floor(Math.min(share, mostShown) * 100) / 100, 0)}
      </span>
    </span>
  )
}
