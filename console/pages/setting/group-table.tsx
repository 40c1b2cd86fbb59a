import { X } from 'lucide-react'
import { useId, useState } from 'react'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { EditNumber } from './edit-number.tsx'
import { type RatioKey, type Ratios, withRatio } from './ratio-draft.ts'
import { AddRow, Cell, Heading, Multiply, NoRow, RatioRow, RatioTable } from './ratio-table.tsx'
import type { RatioState } from './use-ratios.ts'

interface GroupTableProps {
  state: RatioState
  ratios: Readonly<Record<RatioKey, Ratios>>
  /** Id of the errors of the options, if there are any. */
  problemsId: string | undefined
}

/** Multipliers of groups; listing a group here creates the group. */
export function GroupTable({ state, ratios, problemsId }: GroupTableProps) {
  const t = useText()
  const hintId = useId()
  const [words, setWords] = useState('')
  const inPlace = useFocusInPlace()
  const groups = ratios.GroupRatio
  const shown = Object.keys(groups).filter((name) => name.toLowerCase().includes(words.trim().toLowerCase()))
  const locked = !state.mayWrite
  const set = (name: string, value: number | undefined) => state.change('GroupRatio', withRatio(groups, name, value))
  const multiply = (factor: number) => {
    let next = groups
    for (const name of shown) next = withRatio(next, name, (groups[name] ?? 1) * factor)
    state.change('GroupRatio', next)
  }
  return (
    <div {...inPlace} className="flex flex-col gap-3">
      <p id={hintId} className="text-sm text-muted">
        {t('ratio.groups.text')}
      </p>
      <Input
        type="search"
        aria-label={t('ratio.search.groups')}
        placeholder={t('ratio.search.groups')}
        value={words}
        className="w-56! max-sm:w-full!"
        onChange={(event) => setWords(event.target.value)}
      />
      <RatioTable
        caption={t('ratio.groups')}
        head={
          <>
            <Heading text={t('ratio.group')} />
            <Heading text={t('ratio.multiplier')} end />
            <Heading />
          </>
        }
      >
        {shown.map((name) => (
          <RatioRow
            key={name}
            name={name}
            action={
              !locked && (
                <IconButton label={t('form.remove', { name })} icon={<X />} onClick={() => set(name, undefined)} />
              )
            }
          >
            <Cell label={t('ratio.multiplier')} end>
              <EditNumber
                label={t('ratio.multiplier.of', { name })}
                value={groups[name]}
                disabled={locked}
                // An empty box changes nothing, because the user is about to type another number. A button removes the
                // group.
                onChange={(value) => value !== undefined && set(name, value)}
              />
            </Cell>
          </RatioRow>
        ))}
        {shown.length === 0 && <NoRow columns={3} />}
      </RatioTable>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <AddRow
          label={t('ratio.add.group')}
          known={Object.keys(groups)}
          disabled={locked}
          describedBy={[problemsId, hintId].filter(Boolean).join(' ')}
          invalid={problemsId !== undefined}
          onAdd={(name) => set(name, 1)}
        />
        <Multiply disabled={locked || shown.length === 0} onMultiply={multiply} />
      </div>
    </div>
  )
}
