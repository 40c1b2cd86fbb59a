import { useLayoutEffect, useRef } from 'react'
import { helpOpen, paletteOpen } from './commands.ts'
import { singleKeysOn } from './single-keys.ts'

/** Shortcuts by key: 'n', '/', '?', 'g h' (one after the other), 'mod+k' (Ctrl or Cmd), 'mod+enter'. */
export type Hotkeys = Readonly<Record<string, (event: KeyboardEvent) => void>>

const sequenceMs = 1000
const layers: { current: Hotkeys }[] = []
let first: { key: string; atMs: number } | undefined

/** True if the target of a key event is a field for typing. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable="true"]') !== null
}

/** Whether a dialog or a menu is open. Both have their own keys, even while they are still loading. */
function isOverlaid(): boolean {
  return (
    paletteOpen.get() ||
    helpOpen.get() ||
    document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]') !== null
  )
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key : event.key.toLowerCase()
  return event.ctrlKey || event.metaKey ? `mod+${key.toLowerCase()}` : key
}

function find(name: string): ((event: KeyboardEvent) => void) | undefined {
  for (const layer of [...layers].reverse()) {
    const handler = layer.current[name]
    if (handler) return handler
  }
  return undefined
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return
  const name = nameOf(event)
  if (!name.startsWith('mod+') && (isTyping(event.target) || isOverlaid() || !singleKeysOn())) return
  // On a button or a link, Enter presses it.
  if (name === 'enter' && event.target instanceof HTMLElement && event.target.closest('a, button, summary')) return
  // The times at which the keys were pressed are compared, because a busy page may receive both events late.
  const waiting = first && event.timeStamp - first.atMs < sequenceMs ? first.key : undefined
  first = undefined
  const handler = (waiting !== undefined && find(`${waiting} ${name}`)) || find(name)
  if (handler) {
    event.preventDefault()
    handler(event)
  } else if (layers.some((layer) => Object.keys(layer.current).some((key) => key.startsWith(`${name} `)))) {
    first = { key: name, atMs: event.timeStamp }
  }
}

/**
 * Registers shortcuts while the component is mounted. If several components use the same key, the one that was rendered
 * last takes precedence.
 */
export function useHotkeys(keys: Hotkeys): void {
  const layer = useRef(keys)
  layer.current = keys
  useLayoutEffect(() => {
    if (layers.length === 0) document.addEventListener('keydown', onKey)
    layers.push(layer)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
      if (layers.length === 0) document.removeEventListener('keydown', onKey)
    }
  }, [])
}
