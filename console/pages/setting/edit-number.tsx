import { useState } from 'react'
import { Input } from '../../components/ui/input.tsx'

interface EditNumberProps {
  label: string
  value: number | undefined
  /** The default, which applies while the box is empty. */
  usual?: number | undefined
  disabled: boolean
  /** Called with a number of at least 0, or with undefined if the box was emptied. */
  onChange(value: number | undefined): void
}

const shown = (value: number | undefined) => (value === undefined ? '' : String(Number(value.toFixed(6))))

/** A box for a number in a table. The text stays as typed until the user leaves the box. */
export function EditNumber({ label, value, usual, disabled, onChange }: EditNumberProps) {
  const [typed, setTyped] = useState<string>()
  const number = numberOf(typed ?? '')
  const wrong = typed !== undefined && typed.trim() !== '' && number === undefined
  return (
    <Input
      aria-label={label}
      aria-invalid={wrong || undefined}
      inputMode="decimal"
      autoComplete="off"
      value={typed ?? shown(value)}
      placeholder={shown(usual)}
      disabled={disabled}
      className="num h-7! w-24! text-right text-sm! max-sm:h-9!"
      onChange={(event) => {
        setTyped(event.target.value)
        const next = numberOf(event.target.value)
        if (next !== undefined || event.target.value.trim() === '') onChange(next)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}

function numberOf(text: string): number | undefined {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) && number >= 0 ? number : undefined
}
