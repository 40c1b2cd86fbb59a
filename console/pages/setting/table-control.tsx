import { X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { channelOrders } from '../../../contract/channel-orders.ts'
import { type LimitField, limitFields } from '../../../contract/limits.ts'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input, Textarea } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { quotaPerUnit, showsCurrency } from '../../lib/format.ts'
import { type Text, useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import type { ControlProps } from './control-props.ts'
import { EditNumber } from './edit-number.tsx'
import { prettyJson } from './json-text.ts'
import { choiceName, optionName } from './option-names.ts'
import { type GroupLimits, hasGroupNames, readTable, type TableKind, withEntry, withLimit } from './option-tables.ts'
import { PairTable } from './pair-table.tsx'
import { readRatios } from './ratio-draft.ts'
import { AddRow, Cell, Heading, NoRow, RatioRow, RatioTable } from './ratio-table.tsx'

/** Number of rows shown before the user asks for more. */
const firstRows = 50

/**
 * A JSON option as a table, with the stored text below it. A text that does not fit the table can only be edited as
 * text.
 */
export function TableControl({ kind, ...props }: ControlProps & { kind: TableKind }) {
  const { option, form } = props
  const t = useText()
  const source = form.shown(option)
  const fits = readTable[kind](source) !== undefined
  return (
    <div className="flex flex-col gap-2">
      {fits ? (
        <Editor {...props} kind={kind} source={source} />
      ) : (
        <p className="text-sm text-warn">{t('ratio.broken')}</p>
      )}
      <RawText {...props} open={!fits} />
    </div>
  )
}

/** The stored text, folded unless it is the only way to edit the option. */
function RawText({ option, form, id, describedBy, invalid, disabled, open }: ControlProps & { open: boolean }) {
  const t = useText()
  const [unfolded, setUnfolded] = useState(open)
  const stored = form.shown(option)
  const value = form.drafts[option.key] === undefined ? prettyJson(stored) : stored
  const label = t('setting.table.raw', { name: optionName(option) })
  return (
    // If the text does not fit the table, no table is shown and the text is unfolded. It stays unfolded while the user
    // corrects it.
    <details
      className="text-sm"
      open={unfolded || open}
      onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}
    >
      <summary className="w-fit cursor-pointer rounded-sm text-muted hover:text-fg">{t('setting.table.text')}</summary>
      <Textarea
        {...(open && { id })}
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        disabled={disabled}
        rows={Math.min(12, Math.max(2, value.split('\n').length + 1))}
        spellCheck={false}
        className="mt-2 font-mono text-sm!"
        value={value}
        onChange={(event) => form.type(option.key, event.target.value)}
      />
    </details>
  )
}

type EditorProps = ControlProps & { source: string }

function Editor({ kind, ...props }: EditorProps & { kind: TableKind }) {
  switch (kind) {
    case 'numbers':
      return <NumberTable {...props} />
    case 'limits':
      return <LimitTable {...props} />
    case 'orders':
      return <OrderTable {...props} />
    case 'texts':
      return <TextTable {...props} />
    case 'pairs':
      return <PairTable {...props} groups={groupsOf(props)} />
  }
}

/** The names of all groups. Every group has a multiplier, so they are read from that option. */
function groupsOf({ form }: ControlProps): readonly string[] {
  const option = form.find('GroupRatio')
  return Object.keys((option && readRatios(form.shown(option))) ?? {})
}

interface EntriesProps<Value> extends EditorProps {
  table: Readonly<Record<string, Value>>
  heads: readonly { text: string; end?: boolean }[]
  /** The cells of a row after its name. */
  cells(name: string, value: Value, set: (value: Value) => void): ReactNode
  /** The value of a new row. */
  fresh: Value
}

/** The rows of a table by name, with a box for a new row. */
function Entries<Value>({ option, form, id, disabled, table, heads, cells, fresh, ...rest }: EntriesProps<Value>) {
  const t = useText()
  const list = useId()
  const [all, setAll] = useState(false)
  const inPlace = useFocusInPlace()
  const names = Object.keys(table)
  const shown = all ? names : names.slice(0, firstRows)
  const groups = hasGroupNames(option.key)
  const set = (name: string, value: Value | undefined) => form.type(option.key, withEntry(table, name, value))
  const suggested = groups ? groupsOf({ option, form, id, disabled, ...rest }) : []
  return (
    <div {...inPlace} className="flex flex-col gap-2">
      <RatioTable
        caption={optionName(option)}
        head={
          <>
            <Heading text={t(groups ? 'ratio.group' : 'setting.table.name')} />
            {heads.map(({ text, end = false }) => (
              <Heading key={text} text={text} end={end} />
            ))}
            <Heading />
          </>
        }
      >
        {shown.map((name) => (
          <RatioRow
            key={name}
            name={name}
            action={
              !disabled && (
                <IconButton label={t('form.remove', { name })} icon={<X />} onClick={() => set(name, undefined)} />
              )
            }
          >
            {cells(name, table[name] as Value, (value) => set(name, value))}
          </RatioRow>
        ))}
        {names.length === 0 && <NoRow columns={heads.length + 2} text={t('setting.table.empty')} />}
      </RatioTable>
      {shown.length < names.length && (
        <Button className="self-center" onClick={() => setAll(true)}>
          {t('ratio.more', { count: names.length })}
        </Button>
      )}
      <AddRow
        id={id}
        list={list}
        label={t('setting.table.addTo', { name: optionName(option) })}
        placeholder={t(groups ? 'ratio.add.group' : 'setting.table.add')}
        known={names}
        disabled={disabled}
        describedBy={rest.describedBy}
        invalid={rest.invalid}
        onAdd={(name) => {
          set(name, fresh)
          setAll(true)
        }}
      />
      <datalist id={list}>
        {suggested.map((name) => !names.includes(name) && <option key={name} value={name} />)}
      </datalist>
    </div>
  )
}

function NumberTable(props: EditorProps) {
  const t = useText()
  const value = t('setting.table.value')
  return (
    <Entries
      {...props}
      table={readTable.numbers(props.source) ?? {}}
      heads={[{ text: value, end: true }]}
      fresh={1}
      cells={(name, number, set) => (
        <Cell label={value} end>
          <EditNumber
            label={t('setting.table.valueOf', { name })}
            value={number}
            disabled={props.disabled}
            // A user who empties the box is about to type another number; rows are removed with their button.
            onChange={(next) => next !== undefined && set(next)}
          />
        </Cell>
      )}
    />
  )
}

const limitNames = {
  rpm_limit: 'form.limits.rpm',
  tpm_limit: 'form.limits.tpm',
  concurrency_limit: 'form.limits.concurrency',
  daily_budget: 'form.limits.daily',
  monthly_budget: 'form.limits.monthly',
} as const

/** The table of limits. The option contains budgets in quota units; they are shown in dollars if quota is. */
function LimitTable(props: EditorProps) {
  const t = useText()
  const inDollars = (field: LimitField) => showsCurrency() && (field === 'daily_budget' || field === 'monthly_budget')
  const headOf = (field: LimitField) =>
    inDollars(field) ? t('setting.table.dollars', { name: t(limitNames[field]) }) : t(limitNames[field])
  return (
    <Entries<GroupLimits>
      {...props}
      table={readTable.limits(props.source) ?? {}}
      heads={limitFields.map((field) => ({ text: headOf(field), end: true }))}
      fresh={{}}
      cells={(name, limits, set) =>
        limitFields.map((field) => {
          const scale = inDollars(field) ? quotaPerUnit() : 1
          const limit = limits[field]
          return (
            <Cell key={field} label={headOf(field)} end>
              <EditNumber
                label={t('setting.table.limitOf', { limit: headOf(field), name })}
                value={limit === undefined ? undefined : limit / scale}
                whole={scale === 1}
                hint={t('setting.table.noLimit')}
                disabled={props.disabled}
                onChange={(next) => set(withLimit(limits, field, next === undefined ? undefined : units(next, scale)))}
              />
            </Cell>
          )
        })
      }
    />
  )
}

/** A limit in units. A tiny one is not rounded to 0, which would mean that there is no limit. */
function units(limit: number, scale: number): number {
  return limit > 0 ? Math.max(1, Math.round(limit * scale)) : limit
}

function OrderTable(props: EditorProps) {
  const t = useText()
  const head = t('setting.table.order')
  return (
    <Entries
      {...props}
      table={readTable.orders(props.source) ?? {}}
      heads={[{ text: head }]}
      fresh="weight"
      cells={(name, order, set) => (
        <Cell label={head}>
          <Select
            aria-label={t('setting.table.orderOf', { name })}
            value={order}
            disabled={props.disabled}
            className="h-8! w-48!"
            onChange={({ target }) => set(channelOrders.find((each) => each === target.value) ?? order)}
          >
            {channelOrders.map((each) => (
              <option key={each} value={each}>
                {choiceName('ChannelOrder', each)}
              </option>
            ))}
          </Select>
        </Cell>
      )}
    />
  )
}

function TextTable(props: EditorProps) {
  const t: Text = useText()
  const head = t('setting.table.description')
  return (
    <Entries
      {...props}
      table={readTable.texts(props.source) ?? {}}
      heads={[{ text: head }]}
      fresh=""
      cells={(name, words, set) => (
        <Cell label={head}>
          <Input
            aria-label={t('setting.table.descriptionOf', { name })}
            value={words}
            disabled={props.disabled}
            className="h-8! sm:w-80!"
            onChange={({ target }) => set(target.value)}
          />
        </Cell>
      )}
    />
  )
}
