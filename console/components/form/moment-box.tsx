import { useEffect, useState } from 'react'
import { Input } from '../ui/input.tsx'

interface MomentBoxProps {
  label: string
  /** The moment in epoch seconds. */
  value: number | undefined
  onChange(value: number | undefined): void
}

const textOf = (seconds: number | undefined) => {
  if (seconds === undefined || !Number.isFinite(seconds)) return ''
  const at = new Date(seconds * 1000)
  // The value is outside the range of valid dates.
  if (Number.isNaN(at.getTime())) return ''
  return new Date(seconds * 1000 - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
const secondsOf = (text: string) => {
  const ms = new Date(text).getTime()
  // Ignores a partly typed year, such as 0020, which would also be parsed as a year.
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}

/**
 * An input for a date and time, to the second. Incomplete text stays as typed. `onChange` is called only when the text
 * is valid.
 */
export function MomentBox({ label, value, onChange }: MomentBoxProps) {
  const [text, setText] = useState(() => textOf(value))
  useEffect(() => setText((typed) => (secondsOf(typed) === value ? typed : textOf(value))), [value])
  return (
    <Input
      type="datetime-local"
      step={1}
      aria-label={label}
      value={text}
      onChange={(event) => {
        setText(event.target.value)
        const seconds = secondsOf(event.target.value)
        if (seconds !== undefined && seconds !== value) onChange(seconds)
      }}
      onBlur={() => {
        if (text === '' && value !== undefined) onChange(undefined)
      }}
      className="w-auto!"
    />
  )
}
