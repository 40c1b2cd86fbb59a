import { type ReactNode, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'

export const headClass = 'px-2 py-1.5 text-left text-xs font-medium whitespace-nowrap text-muted'
export const cellClass = 'px-2 py-1 align-middle'

const regionClass = 'overflow-x-auto rounded-md border border-line'

/** The frame of a table of ratios; it scrolls sideways by itself where the page is narrow. */
export function RatioTable({ caption, head, children }: { caption: string; head: ReactNode; children: ReactNode }) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section aria-label={t('table.region', { name: caption })} tabIndex={0} className={regionClass}>
      <table className="w-full text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="border-b border-line bg-sunken">
          <tr>{head}</tr>
        </thead>
        <tbody className="divide-y divide-line">{children}</tbody>
      </table>
    </section>
  )
}

/** A box for the name of a new row; what is empty or there already is not added. */
export function AddRow(props: {
  label: string
  known: readonly string[]
  disabled: boolean
  onAdd(name: string): void
}) {
  const { label, known, disabled, onAdd } = props
  const t = useText()
  const [name, setName] = useState('')
  const add = () => {
    const wanted = name.trim()
    if (wanted === '') return
    if (known.includes(wanted)) return void toast.info(t('ratio.add.known', { name: wanted }))
    onAdd(wanted)
    setName('')
  }
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Input
        aria-label={label}
        placeholder={label}
        value={name}
        disabled={disabled}
        spellCheck={false}
        className="w-48!"
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" disabled={disabled}>
        {t('do.add')}
      </Button>
    </form>
  )
}

/** Multiplies all rows that are shown. */
export function Multiply({ disabled, onMultiply }: { disabled: boolean; onMultiply(factor: number): void }) {
  const t = useText()
  const [typed, setTyped] = useState('')
  const factor = Number(typed)
  const ready = typed.trim() !== '' && Number.isFinite(factor) && factor >= 0
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (!ready) return
        onMultiply(factor)
        setTyped('')
      }}
    >
      <label className="flex flex-wrap items-center gap-2 text-sm text-muted">
        {t('ratio.multiply')}
        <Input
          inputMode="decimal"
          placeholder="1.1"
          value={typed}
          disabled={disabled}
          className="num w-20!"
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <Button type="submit" disabled={disabled || !ready}>
        {t('ratio.multiply.do')}
      </Button>
    </form>
  )
}
