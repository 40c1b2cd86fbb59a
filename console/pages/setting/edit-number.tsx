import { useId, useState } from 'react'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'

interface EditNumberProps {
  label: string
  value: number | undefined
  /** The default, which applies while the box is empty. */
  usual?: number | undefined
  /** Accepts only whole numbers. */
  whole?: boolean
  /** Shown while the box is empty, in place of `usual`. */
  hint?: string
  disabled: boolean
  /** Called with a number of at least 0, or with undefined if the box was emptied. */
  onChange(value: number | undefined): void
}

const shown = (value: number | undefined) => (value === undefined ? '' : String(Number(value.toFixed(6))))

/** A box for a number in a table. The text stays as typed until the user leaves the box. */
export function EditNumber({ label, value, usual, whole = false, hint, disabled, onChange }: EditNumberProps) {
  const t = useText()
  const problem = useId()
  const [typed, setTyped] = useState<string>()
  const read = (words: string) => numberOf(words, whole)
  const number = read(typed ?? '')
  const wrong = typed !== undefined && typed.trim() !== '' && number === undefined
  const box = (
    <Input
      aria-label={label}
      aria-invalid={wrong || undefined}
      aria-describedby={wrong ? problem : undefined}
      inputMode="decimal"
      autoComplete="off"
      value={typed ?? shown(value)}
      placeholder={hint ?? shown(usual)}
      disabled={disabled}
      className="num h-7! w-24! text-right text-sm! max-sm:h-9!"
      onChange={(event) => {
        setTyped(event.target.value)
        const next = read(event.target.value)
        if (next !== undefined || event.target.value.trim() === '') onChange(next)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
  return (
    <>
      {box}
      {wrong && (
        <span id={problem} role="alert" className="block text-xs whitespace-normal text-bad">
          {t(whole ? 'setting.table.wholeNumber' : 'setting.table.number')}
        </span>
      )}
    </>
  )
}

function numberOf(text: string, whole: boolean): number | undefined {
  const number = Number(text)
  const fits = Number.isFinite(number) && number >= 0 && (!whole || Number.isSafeInteger(number))
  return text.trim() !== '' && fits ? number : undefined
}
