import { type ReactNode, useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'

const regionClass = 'overflow-x-auto rounded-md border border-line'

/** A heading of a ratio table; an empty cell for columns that need no heading. */
export function Heading({ text, end, title }: { text?: string; end?: boolean; title?: string }) {
  if (text === undefined) return <td role="cell" className="bg-sunken" />
  return (
    <th role="columnheader" scope="col" data-align={end ? 'end' : undefined} title={title}>
      {text}
    </th>
  )
}

/** A cell in the column with heading `label`. In card layout, the label is shown beside the cell. */
export function Cell({ label, end, children }: { label: string; end?: boolean; children: ReactNode }) {
  return (
    <td role="cell" data-label={label} data-align={end ? 'end' : undefined} className={end ? 'num' : ''}>
      {children}
    </td>
  )
}

/** The frame of a ratio table. On narrow pages, rows are shown as cards, as in lists. */
export function RatioTable({ caption, head, children }: { caption: string; head: ReactNode; children: ReactNode }) {
  const t = useText()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region
    <section aria-label={t('table.region', { name: caption })} tabIndex={0} className={regionClass}>
      <table role="table" className="data-table">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">{head}</tr>
        </thead>
        <tbody role="rowgroup">{children}</tbody>
      </table>
    </section>
  )
}

/** A row of `Cell`s. `action` is at the end of the row or, in card layout, beside the name. */
export function RatioRow(props: { name: string; action: ReactNode; children: ReactNode }) {
  const { name, action, children } = props
  return (
    <tr role="row">
      <th role="rowheader" scope="row" data-card="title" className="sm:max-w-64 sm:truncate" title={name}>
        {name}
      </th>
      {children}
      <td role="cell" data-card="badge" className="sm:w-9">
        {action}
      </td>
    </tr>
  )
}

/** Shown if no row matches the search, or if the table has no rows. */
export function NoRow({ columns, text }: { columns: number; text?: string }) {
  const t = useText()
  return (
    <tr role="row">
      <td role="cell" colSpan={columns} className="py-8! text-center! max-sm:justify-center!">
        <span className="text-muted">{text ?? t('ratio.none')}</span>
      </td>
    </tr>
  )
}

/**
 * A box for the name of a new row. Empty names are not added. For a name that is in the table already, the box shows an
 * error.
 */
export function AddRow(props: {
  label: string
  /** Shown in the empty box; the label, if omitted. */
  placeholder?: string
  known: readonly string[]
  disabled: boolean
  onAdd(name: string): void
  /** Id of the box. */
  id?: string
  /** Id of the list with suggested names. */
  list?: string
  /** Ids of the hint and the errors of the table. */
  describedBy?: string | undefined
  /** Whether the table has an error. */
  invalid?: boolean
}) {
  const { label, placeholder = label, known, disabled, onAdd, id, list, describedBy = '', invalid = false } = props
  const t = useText()
  const problemId = useId()
  const [name, setName] = useState('')
  /** The name that was refused because the table has it. */
  const [taken, setTaken] = useState<string>()
  const add = () => {
    const wanted = name.trim()
    if (wanted === '') return
    if (known.includes(wanted)) return setTaken(wanted)
    onAdd(wanted)
    setName('')
  }
  return (
    <form
      className="flex flex-wrap gap-x-2 gap-y-1"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <Input
        id={id}
        list={list}
        autoComplete="off"
        aria-label={label}
        placeholder={placeholder}
        value={name}
        disabled={disabled}
        spellCheck={false}
        aria-invalid={invalid || taken !== undefined || undefined}
        aria-describedby={`${describedBy} ${taken === undefined ? '' : problemId}`.trim() || undefined}
        className="w-48!"
        onChange={(event) => {
          setName(event.target.value)
          setTaken(undefined)
        }}
      />
      <Button type="submit" disabled={disabled}>
        {t('do.add')}
      </Button>
      {taken !== undefined && <AddProblem id={problemId} name={taken} />}
    </form>
  )
}

/** The error of a box for a new row whose name is in the table already. */
export function AddProblem({ id, name }: { id: string; name: string }) {
  const t = useText()
  return (
    <p id={id} role="alert" className="basis-full text-sm break-words text-bad">
      {t('ratio.add.known', { name })}
    </p>
  )
}

/** Multiplies the ratios of all visible rows. */
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
