import { type PointerEvent, useRef, useState } from 'react'

/** Adjacent indexes along an axis, both ends included. */
export interface Range {
  from: number
  to: number
}

const ordered = (a: number, b: number): Range => ({ from: Math.min(a, b), to: Math.max(a, b) })

/**
 * Selects adjacent indexes of a chart by dragging. `indexAt` returns the index at a pointer position. `onRange` is
 * called with the selection when the pointer is released. A press that stays on one index selects nothing.
 */
export function useRangeDrag(indexAt: (clientX: number) => number, onRange: ((range: Range) => void) | undefined) {
  const start = useRef<number>(undefined)
  const [range, setRange] = useState<Range>()
  const stop = () => {
    start.current = undefined
    setRange(undefined)
  }
  const pointer = {
    onPointerDown(event: PointerEvent) {
      if (event.button === 0 && event.isPrimary) start.current = indexAt(event.clientX)
    },
    onPointerMove(event: PointerEvent) {
      const first = start.current
      if (first === undefined) return
      const last = indexAt(event.clientX)
      if (last === first && range === undefined) return
      // With pointer capture, the drag ends wherever the pointer is released.
      event.currentTarget.setPointerCapture(event.pointerId)
      setRange(ordered(first, last))
    },
    onPointerUp() {
      if (range) onRange?.(range)
      stop()
    },
    onPointerCancel: stop,
  }
  return { range, setRange, stop, pointer: onRange ? pointer : {} }
}
