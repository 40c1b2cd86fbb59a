import { useEffect, useRef } from 'react'
import type { DotColor } from './dot-color.ts'
import { observable } from './observable.ts'

/** One entry of the command palette. */
export interface Command {
  id: string
  label: string
  /** The heading under which the command is listed. */
  group: string
  /** Additional words that the search matches. */
  words?: string
  /** A second line, such as the status of the object that the command opens. */
  detail?: string
  /** The colour of a dot before the second line. */
  dot?: DotColor
  /** The provider whose mark is shown before the label. */
  provider?: string
  /** Shortcut, shown beside the command. */
  keys?: string
  run(): void
}

type Source = () => readonly Command[]

const sources = new Set<Source>()
/** Whether the palette is open. */
export const paletteOpen = observable(false)
/** Whether the shortcut help is open. */
export const helpOpen = observable(false)

/** All current commands. The commands of the current page come first. */
export function allCommands(): Command[] {
  return [...sources].reverse().flatMap((source) => source())
}

/** Adds commands while the component is mounted. The palette reads them when it opens. */
export function useCommands(source: Source): void {
  const latest = useRef(source)
  latest.current = source
  useEffect(() => {
    const current: Source = () => latest.current()
    sources.add(current)
    return () => void sources.delete(current)
  }, [])
}
