import { RotateCcw } from 'lucide-react'
import { useId, useState } from 'react'
import { Badge, Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { formatCount, quotaPerUnit } from '../../lib/format.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { EditNumber } from './edit-number.tsx'
import { completionOf, type ModelRow, type PriceSource, promptOf, withRatio } from './ratio-draft.ts'
import { AddRow, Cell, Heading, Multiply, NoRow, RatioRow, RatioTable } from './ratio-table.tsx'
import type { RatioState } from './use-ratios.ts'

/** Number of rows shown before the user asks for more. */
const firstRows = 50
const sourceColor = { option: 'accent', default: 'grey', call: 'grey', none: 'red' } as const

type Unit = 'price' | 'ratio'

/**
 * Ratios of models, shown as dollars per million tokens or as the stored values. `problemsId` is the id of the errors of
 * the options, if there are any.
 */
export function ModelTable({ state, problemsId }: { state: RatioState; problemsId: string | undefined }) {
  const t = useText()
  const hintId = useId()
  useServerStatus()
  const [unit, setUnit] = useState<Unit>('price')
  const [words, setWords] = useState('')
  const [all, setAll] = useState(false)
  const inPlace = useFocusInPlace()
  const { rows, mayWrite, ratios, change } = state
  if (!ratios) return null
  const found = rows.filter(({ model }) => model.toLowerCase().includes(words.trim().toLowerCase()))
  const shown = all ? found : found.slice(0, firstRows)
  const multiply = (factor: number) => {
    let next = ratios.ModelRatio
    for (const row of found) {
      const prompt = promptOf(row)
      if (prompt !== undefined && row.source !== 'call') next = withRatio(next, row.model, prompt * factor)
    }
    change('ModelRatio', next)
  }
  return (
    <div {...inPlace} className="flex flex-col gap-3">
      <p id={hintId} className="text-sm text-muted">
        {t('ratio.text')}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label={t('ratio.search')}
          placeholder={t('ratio.search')}
          value={words}
          className="w-56! max-sm:w-full!"
          onChange={(event) => setWords(event.target.value)}
        />
        <Segmented<Unit>
          label={t('ratio.unit')}
          value={unit}
          onChange={setUnit}
          options={(['price', 'ratio'] as const).map((value) => ({ value, label: t(`ratio.unit.${value}`) }))}
        />
      </div>
      <RatioTable caption={t('ratio.models')} head={<Head unit={unit} />}>
        {shown.map((row) => (
          <Row key={row.model} row={row} unit={unit} state={state} />
        ))}
        {shown.length === 0 && <NoRow columns={7} />}
      </RatioTable>
      {shown.length < found.length && (
        <Button className="self-center" onClick={() => setAll(true)}>
          {t('ratio.more', { count: found.length })}
        </Button>
      )}
      <div className="flex flex-wrap items-center justify-between gap-2">
        <AddRow
          label={t('ratio.add.model')}
          known={rows.map(({ model }) => model)}
          disabled={!mayWrite}
          describedBy={[problemsId, hintId].filter(Boolean).join(' ')}
          invalid={problemsId !== undefined}
          onAdd={(model) => {
            change('ModelRatio', withRatio(ratios.ModelRatio, model, 1))
            setWords(model)
          }}
        />
        <Multiply disabled={!mayWrite || found.length === 0} onMultiply={multiply} />
      </div>
    </div>
  )
}

function Head({ unit }: { unit: Unit }) {
  const t = useText()
  const measure = t(`ratio.unit.${unit}`)
  return (
    <>
      <Heading text={t('ratio.model')} />
      <Heading text={t('ratio.prompt')} title={measure} end />
      <Heading text={t('ratio.completion')} title={measure} end />
      <Heading text={t('ratio.source')} />
      <Heading text={t('ratio.channels')} end />
      <Heading text={t('ratio.calls')} end />
      <Heading />
    </>
  )
}

function Row({ row, unit, state }: { row: ModelRow; unit: Unit; state: RatioState }) {
  const t = useText()
  const { ratios, change, mayWrite, prices } = state
  if (!ratios) return null
  const { model: name } = row
  const prompt = promptOf(row)
  // The price of a million prompt tokens at ratio 1, in dollars.
  const scale = unit === 'price' ? 1_000_000 / quotaPerUnit() : 1
  const completionScale = unit === 'price' ? (prompt ?? 0) * scale : 1
  const scaled = (value: number | undefined, by: number) => (value === undefined ? undefined : value * by)
  const locked = !mayWrite || row.source === 'call'
  const own = row.prompt !== undefined || row.completion !== undefined
  const reset = own && mayWrite && (
    <IconButton
      label={t('ratio.reset', { name })}
      icon={<RotateCcw />}
      onClick={() => {
        if (row.prompt !== undefined) change('ModelRatio', withRatio(ratios.ModelRatio, name, undefined))
        if (row.completion !== undefined) change('CompletionRatio', withRatio(ratios.CompletionRatio, name, undefined))
      }}
    />
  )
  return (
    <RatioRow name={name} action={reset}>
      <Cell label={t('ratio.prompt')} end>
        <EditNumber
          label={t('ratio.prompt.of', { name })}
          value={scaled(row.prompt, scale)}
          usual={scaled(row.usualPrompt, scale)}
          disabled={locked}
          onChange={(value) => change('ModelRatio', withRatio(ratios.ModelRatio, name, scaled(value, 1 / scale)))}
        />
      </Cell>
      <Cell label={t('ratio.completion')} end>
        <EditNumber
          label={t('ratio.completion.of', { name })}
          value={scaled(row.completion, completionScale)}
          usual={prompt === undefined ? undefined : completionOf({ ...row, completion: undefined }) * completionScale}
          disabled={locked || completionScale === 0}
          onChange={(value) =>
            change('CompletionRatio', withRatio(ratios.CompletionRatio, name, scaled(value, 1 / completionScale)))
          }
        />
      </Cell>
      <Cell label={t('ratio.source')}>{prices && <Source source={row.source} />}</Cell>
      <Cell label={t('ratio.channels')} end>
        {row.channels > 0 || !prices ? formatCount(row.channels) : <Badge>{t('ratio.unused')}</Badge>}
      </Cell>
      <Cell label={t('ratio.calls')} end>
        {row.calls === undefined ? '' : formatCount(row.calls)}
      </Cell>
    </RatioRow>
  )
}

function Source({ source }: { source: PriceSource }) {
  const t = useText()
  return <Status color={sourceColor[source]}>{t(`ratio.source.${source}`)}</Status>
}
