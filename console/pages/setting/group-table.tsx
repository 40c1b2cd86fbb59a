import { X } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { EditNumber } from './edit-number.tsx'
import { type RatioKey, type Ratios, withRatio } from './ratio-draft.ts'
import { AddRow, cellClass, headClass, Multiply, RatioTable } from './ratio-table.tsx'
import type { RatioState } from './use-ratios.ts'

/** Multipliers of groups; a group exists by standing here. */
export function GroupTable({ state, ratios }: { state: RatioState; ratios: Readonly<Record<RatioKey, Ratios>> }) {
  const t = useText()
  const [words, setWords] = useState('')
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
    <>
      <p className="text-sm text-muted">{t('ratio.groups.text')}</p>
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
            <th scope="col" className={headClass}>
              {t('ratio.group')}
            </th>
            <th scope="col" className={`${headClass} text-right!`}>
              {t('ratio.multiplier')}
            </th>
            <td className={headClass} />
          </>
        }
      >
        {shown.map((name) => (
          <tr key={name}>
            <th scope="row" className={`${cellClass} text-left font-medium`}>
              {name}
            </th>
            <td className={`${cellClass} text-right`}>
              <EditNumber
                label={t('ratio.multiplier.of', { name })}
                value={groups[name]}
                disabled={locked}
                // An empty box is on the way to another number; groups are removed by their button.
                onChange={(value) => value !== undefined && set(name, value)}
              />
            </td>
            <td className={`${cellClass} w-9`}>
              {!locked && (
                <IconButton label={t('form.remove', { name })} icon={<X />} onClick={() => set(name, undefined)} />
              )}
            </td>
          </tr>
        ))}
        {shown.length === 0 && (
          <tr>
            <td colSpan={3} className="px-2 py-8 text-center text-muted">
              {t('ratio.none')}
            </td>
          </tr>
        )}
      </RatioTable>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <AddRow
          label={t('ratio.add.group')}
          known={Object.keys(groups)}
          disabled={locked}
          onAdd={(name) => set(name, 1)}
        />
        <Multiply disabled={locked || shown.length === 0} onMultiply={multiply} />
      </div>
    </>
  )
}
