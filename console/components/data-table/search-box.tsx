import { Search, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { useText } from '../../lib/text.ts'
import { IconButton } from '../ui/icon-button.tsx'
import { inputClass } from '../ui/input.tsx'

/** The delay between the last keystroke and the search. */
const pauseMs = 400

interface SearchBoxProps {
  value: string
  label: string
  onSearch(value: string): void
  /**
   * Called when an empty search is submitted and none was active. It should show the first page, or reload it if it is
   * already shown.
   */
  onReload?: () => void
}

/**
 * The search box of a list. The text is trimmed when it is used, not while the user types. An empty search shows the
 * whole list.
 */
export function SearchBox({ value, label, onSearch, onReload }: SearchBoxProps) {
  const t = useText()
  const [typed, setTyped] = useState(value)
  const box = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)

  // Updates the box when "back", "forward" or "clear filters" changes the search text.
  useEffect(() => setTyped((before) => (before.trim() === value ? before : value)), [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  useHotkeys({ '/': () => box.current?.focus() })

  const search = (next: string) => {
    clearTimeout(timer.current)
    if (next.trim() !== value) onSearch(next.trim())
  }
  const type = (next: string) => {
    setTyped(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => search(next), pauseMs)
  }
  const clear = () => {
    setTyped('')
    search('')
    box.current?.focus()
  }
  return (
    <search className="min-w-40 flex-1 sm:max-w-72">
      <form
        className="relative"
        onSubmit={(event) => {
          event.preventDefault()
          if (typed.trim() === '' && value === '') onReload?.()
          else search(typed)
        }}
      >
        <Search className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint" />
        <input
          ref={box}
          type="text"
          inputMode="search"
          enterKeyHint="search"
          aria-label={label}
          placeholder={label}
          value={typed}
          onChange={(event) => type(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && typed !== '') {
              event.preventDefault()
              clear()
            }
          }}
          className={`${inputClass} pr-8 pl-8 text-ellipsis`}
        />
        {typed !== '' && (
          <IconButton
            className="absolute top-1/2 right-0.5 -translate-y-1/2"
            label={t('table.search.clear')}
            icon={<X />}
            onClick={clear}
          />
        )}
      </form>
    </search>
  )
}
