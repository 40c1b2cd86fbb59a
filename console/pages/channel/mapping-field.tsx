import { Plus, X } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { TextAreaField } from '../../components/form/text-field.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { FormSection } from './form-section.tsx'
import { type ChannelValues, isMapping } from './form-values.ts'

/** The example that a button fills in: retired model names and their successors. */
const example = {
  'gpt-3.5-turbo-0301': 'gpt-3.5-turbo',
  'gpt-4-0314': 'gpt-4',
  'gpt-4-32k-0314': 'gpt-4-32k',
}

type Pair = readonly [string, string]

function pairsOf(text: string): Pair[] {
  if (text.trim() === '' || !isMapping(text)) return []
  return Object.entries(JSON.parse(text) as Record<string, string>)
}

function textOf(pairs: readonly Pair[]): string {
  // A name with leading or trailing spaces would never match a request.
  const filled = pairs.map(([from, to]) => [from.trim(), to] as const).filter(([from]) => from !== '')
  return filled.length === 0 ? '' : JSON.stringify(Object.fromEntries(filled), null, 2)
}

/**
 * Models on the left side of the mapping that the channel does not serve. If the channel serves no models at all, the
 * list is empty, because another message reports that.
 */
function unservedOf(models: readonly string[], mapping: string): string[] {
  if (models.length === 0) return []
  return pairsOf(mapping).flatMap(([from]) => (from.trim() === '' || models.includes(from.trim()) ? [] : from))
}

/** Requested model → upstream model, as a table or as JSON. */
export function MappingField({ form }: { form: UseFormReturn<ChannelValues> }) {
  const t = useText()
  const hintId = useId()
  const [models, mapping] = form.watch(['models', 'model_mapping'])
  const [view, setView] = useState<'table' | 'json'>('table')
  const shown = isMapping(mapping) ? view : 'json'
  const views = [
    { value: 'table', label: t('channel.form.mapping.table') },
    { value: 'json', label: t('channel.form.mapping.json') },
  ] as const
  const set = (text: string) => form.setValue('model_mapping', text, { shouldDirty: true })
  const add = (names: readonly string[]) => {
    form.setValue('models', [...new Set([...models, ...names.map((name) => name.trim())])], {
      shouldDirty: true,
      shouldValidate: form.formState.isSubmitted,
    })
    // The button disappears together with the warning, so the focus moves to the field that it filled.
    form.setFocus('models')
  }
  return (
    <FormSection title={t('channel.form.mapping')}>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p id={hintId} className="text-sm text-muted">
          {t('channel.form.mapping.hint')}
        </p>
        <Segmented<'table' | 'json'>
          label={t('channel.form.mapping')}
          value={shown}
          onChange={setView}
          options={views}
        />
      </div>
      {shown === 'json' ? (
        <TextAreaField
          control={form.control}
          name="model_mapping"
          label={t('channel.form.mapping')}
          rows={6}
          placeholder={JSON.stringify(example, null, 2)}
          mono
        />
      ) : (
        <Pairs models={models} mapping={mapping} hintId={hintId} onChange={set} />
      )}
      <Unserved models={models} mapping={mapping} onAdd={add} />
      <Button size="small" className="self-start" onClick={() => set(JSON.stringify(example, null, 2))}>
        {t('channel.form.mapping.example')}
      </Button>
    </FormSection>
  )
}

const pauseMs = 600

/** Returns the last value that stayed unchanged for `forMs` milliseconds. */
function useStanding(value: string, forMs: number): string {
  const [standing, setStanding] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setStanding(value), forMs)
    return () => clearTimeout(timer)
  }, [value, forMs])
  return standing
}

/** Warns about mapping lines that no call can reach. */
function Unserved(props: { models: readonly string[]; mapping: string; onAdd(names: readonly string[]): void }) {
  const t = useText()
  // Waits for a pause in typing, so that a name is not checked at each keystroke.
  const names = unservedOf(props.models, useStanding(props.mapping, pauseMs))
  if (names.length === 0) return null
  return (
    <Banner kind="warn" live>
      <p className="break-words">{t('channel.form.mapping.unserved', { names: names.join(', ') })}</p>
      <Button size="small" className="mt-2" onClick={() => props.onAdd(names)}>
        {t('channel.form.mapping.serve', { count: names.length })}
      </Button>
    </Banner>
  )
}

function Pairs(props: { models: readonly string[]; mapping: string; hintId: string; onChange(text: string): void }) {
  const { models, mapping, hintId, onChange } = props
  const t = useText()
  const listId = useId()
  const inPlace = useFocusInPlace()
  const [pairs, setPairs] = useState<readonly Pair[]>(() => pairsOf(mapping))
  // If the value was set elsewhere, for example by the example button, the table is rebuilt from it. Lines without a
  // name exist only in this state.
  const current = textOf(pairs) === textOf(pairsOf(mapping)) ? pairs : pairsOf(mapping)
  const change = (next: readonly Pair[]) => {
    setPairs(next)
    onChange(textOf(next))
  }
  const edit = (index: number, pair: Pair) => change(current.map((each, at) => (at === index ? pair : each)))
  return (
    <div {...inPlace} className="flex flex-col gap-2">
      <datalist id={listId}>
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
      {current.map(([from, to], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have only positions; their texts change while typed
        <div key={index} className="flex items-center gap-2">
          <Input
            aria-label={t('channel.form.mapping.from', { row: index + 1 })}
            aria-describedby={hintId}
            list={listId}
            value={from}
            spellCheck={false}
            onChange={(event) => edit(index, [event.target.value, to])}
          />
          <span aria-hidden="true" className="text-muted">
            →
          </span>
          <Input
            aria-label={t('channel.form.mapping.to', { row: index + 1 })}
            aria-describedby={hintId}
            value={to}
            spellCheck={false}
            onChange={(event) => edit(index, [from, event.target.value])}
          />
          <IconButton
            label={t('channel.form.mapping.remove', { row: index + 1 })}
            icon={<X />}
            onClick={() => change(current.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button size="small" className="self-start" icon={<Plus />} onClick={() => setPairs([...current, ['', '']])}>
        {t('channel.form.mapping.add')}
      </Button>
    </div>
  )
}
