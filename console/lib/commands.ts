import { useEffect, useRef } from 'react'
import { observable } from './observable.ts'

/** Something the command palette offers. */
export interface Command {
  id: string
  label: string
  /** Heading it stands under. */
  group: string
  /** Further words it is found by. */
  words?: string
  /** Shortcut, shown beside it. */
  keys?: string
  run(): void
}

type Source = () => readonly Command[]

const sources = new Set<Source>()
/** Whether the palette is open. */
export const paletteOpen = observable(false)
/** Whether the help of shortcuts is open. */
export const helpOpen = observable(false)

/** Every command of the moment; those of the page come first. */
export function allCommands(): Command[] {
  return [...sources].reverse().flatMap((source) => source())
}

/** Adds commands for as long as the component is on the page. They are asked for when the palette opens. */
export function useCommands(source: Source): void {
  const latest = useRef(source)
  latest.current = source
  useEffect(() => {
    const current: Source = () => latest.current()
    sources.add(current)
    return () => void sources.delete(current)
  }, [])
}
