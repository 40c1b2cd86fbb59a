import { useEffect, useState } from 'react'
import { Input } from '../ui/input.tsx'

interface DayBoxProps {
  label: string
  /** The start of the day in the browser's time zone, in epoch seconds. With `isEnd`, it is the end of the day. */
  value: number | undefined
  /** The chosen day is the last one of a range. */
  isEnd?: boolean
  onChange(value: number | undefined): void
}

const two = (value: number) => String(value).padStart(2, '0')

function textOf(seconds: number | undefined, isEnd: boolean): string {
  if (seconds === undefined) return ''
  const at = new Date((seconds - (isEnd ? 1 : 0)) * 1000)
  const year = at.getFullYear()
  // The value is outside the range of valid dates.
  if (Number.isNaN(year) || year < 1000) return ''
  return `${year}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

function secondsOf(text: string, isEnd: boolean): number | undefined {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  // Ignores a partly typed year, such as 0020, which would also be a valid value.
  if (!(year >= 1970)) return undefined
  return Math.max(0, new Date(year, month - 1, day + (isEnd ? 1 : 0)).getTime() / 1000)
}

/** An input for a day, with its label. `onChange` is called only when the day is complete. */
export function DayBox({ label, value, isEnd = false, onChange }: DayBoxProps) {
  const [text, setText] = useState(() => textOf(value, isEnd))
  useEffect(
    () => setText((typed) => (secondsOf(typed, isEnd) === value ? typed : textOf(value, isEnd))),
    [value, isEnd],
  )
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      {label}
      <Input
        type="date"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          const seconds = secondsOf(event.target.value, isEnd)
          if (seconds !== undefined && seconds !== value) onChange(seconds)
        }}
        onBlur={() => {
          if (text === '' && value !== undefined) onChange(undefined)
        }}
        className="w-auto!"
      />
    </label>
  )
}
