import type { DotColor } from '../ui/badge.tsx'
import { dotFill } from './types.ts'

/** One mark of a strip. */
export interface StripMark {
  id: string | number
  color: DotColor
  /** The height of the mark, from 0 to 1. Failures have full height and are red. */
  size: number
  /** Text shown on hover. */
  title: string
}

/** A row of small marks, such as the last 20 tests, oldest first. `summary` says what it shows. */
export function Strip({ marks, summary }: { marks: readonly StripMark[]; summary: string }) {
  const width = Math.max(1, marks.length) * 6
  return (
    <svg role="img" aria-label={summary} viewBox={`0 0 ${width} 20`} className="h-5" width={width}>
      {marks.map((mark, index) => {
        const height = 3 + 17 * Math.max(0, Math.min(1, mark.size))
        return (
          <rect
            key={mark.id}
            x={index * 6}
            y={20 - height}
            width={4}
            height={height}
            rx={1}
            className={dotFill[mark.color]}
          >
            <title>{mark.title}</title>
          </rect>
        )
      })}
    </svg>
  )
}
