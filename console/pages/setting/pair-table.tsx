import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import type { ControlProps } from './control-props.ts'
import { EditNumber } from './edit-number.tsx'
import { optionName } from './option-names.ts'
import { readTable, withEntry, withPair } from './option-tables.ts'
import { AddProblem, Cell, Heading, NoRow, RatioRow, RatioTable } from './ratio-table.tsx'

interface PairTableProps extends ControlProps {
  source: string
  /** Names that are suggested. */
  groups: readonly string[]
}

/** Multipliers by the group of the user and the group of the token. */
export function PairTable({ option, form, id, describedBy, invalid, disabled, source, groups }: PairTableProps) {
  const t = useText()
  const inPlace = useFocusInPlace()
  const table = readTable.pairs(source) ?? {}
  const rows = Object.entries(table).flatMap(([user, ratios]) =>
    Object.entries(ratios).map(([token, ratio]) => ({ user, token, ratio })),
  )
  const set = (user: string, token: string, ratio: number | undefined) =>
    form.type(option.key, withEntry(table, user, withPair(table[user] ?? {}, token, ratio)))
  return (
    <div {...inPlace} className="flex flex-col gap-2">
      <RatioTable
        caption={optionName(option)}
        head={
          <>
            <Heading text={t('setting.table.userGroup')} />
            <Heading text={t('setting.table.tokenGroup')} />
            <Heading text={t('ratio.multiplier')} end />
            <Heading />
          </>
        }
      >
        {rows.map(({ user, token, ratio }) => {
          const name = `${user} → ${token}`
          return (
            <RatioRow
              key={name}
              name={user}
              action={
                !disabled && (
                  <IconButton
                    label={t('form.remove', { name })}
                    icon={<X />}
                    onClick={() => set(user, token, undefined)}
                  />
                )
              }
            >
              <Cell label={t('setting.table.tokenGroup')}>{token}</Cell>
              <Cell label={t('ratio.multiplier')} end>
                <EditNumber
                  label={t('ratio.multiplier.of', { name })}
                  value={ratio}
                  disabled={disabled}
                  onChange={(value) => value !== undefined && set(user, token, value)}
                />
              </Cell>
            </RatioRow>
          )
        })}
        {rows.length === 0 && <NoRow columns={4} text={t('setting.table.empty')} />}
      </RatioTable>
      <AddPair
        {...{ id, describedBy, invalid, disabled, groups }}
        isKnown={(user, token) => table[user]?.[token] !== undefined}
        onAdd={(user, token) => set(user, token, 1)}
      />
    </div>
  )
}

interface AddPairProps extends Pick<PairTableProps, 'id' | 'describedBy' | 'invalid' | 'disabled' | 'groups'> {
  isKnown(user: string, token: string): boolean
  onAdd(user: string, token: string): void
}

/** The boxes for a new pair. For a pair that is in the table already, they show an error. */
function AddPair({ id, describedBy, invalid, disabled, groups, isKnown, onAdd }: AddPairProps) {
  const t = useText()
  const list = useId()
  const problemId = useId()
  const [user, setUser] = useState('')
  const [token, setToken] = useState('')
  const [taken, setTaken] = useState<string>()
  const ready = user.trim() !== '' && token.trim() !== ''
  const boxes = [
    { name: t('setting.table.userGroup'), value: user, set: setUser, id },
    { name: t('setting.table.tokenGroup'), value: token, set: setToken, id: undefined },
  ]
  return (
    <form
      className="flex flex-wrap gap-x-2 gap-y-1"
      onSubmit={(event) => {
        event.preventDefault()
        if (!ready) return
        const [from, to] = [user.trim(), token.trim()]
        if (isKnown(from, to)) return setTaken(`${from} → ${to}`)
        onAdd(from, to)
        setToken('')
      }}
    >
      {boxes.map((box) => (
        <Input
          key={box.name}
          id={box.id}
          aria-label={box.name}
          placeholder={box.name}
          value={box.value}
          list={list}
          disabled={disabled}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={invalid || taken !== undefined || undefined}
          aria-describedby={`${describedBy} ${taken === undefined ? '' : problemId}`.trim() || undefined}
          className="w-48!"
          onChange={(event) => {
            box.set(event.target.value)
            setTaken(undefined)
          }}
        />
      ))}
      <Button type="submit" disabled={disabled || !ready}>
        {t('do.add')}
      </Button>
      {taken !== undefined && <AddProblem id={problemId} name={taken} />}
      <datalist id={list}>
        {groups.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  )
}
