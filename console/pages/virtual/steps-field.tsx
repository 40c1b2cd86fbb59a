import { useQuery } from '@tanstack/react-query'
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { type Control, useController } from 'react-hook-form'
import { mostSteps } from '../../../contract/api/virtual-model.ts'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import { newStep, type StepValues, type VirtualValues } from './form-values.ts'
import { knownModelsQuery } from './queries.ts'

type Way = 'up' | 'down'

/** The steps in order. They are moved with their buttons, or with Alt and the arrow keys. */
export function StepsField({ control }: { control: Control<VirtualValues> }) {
  const t = useText()
  const listId = useId()
  const list = useRef<HTMLOListElement>(null)
  const { field, fieldState } = useController({ control, name: 'steps' })
  const steps = field.value
  const error = fieldState.error?.message
  const [news, setNews] = useState('')
  /** The control to focus after the rows have been drawn, because a row that moves within the page loses the focus. */
  const [focus, setFocus] = useState<string>()
  useEffect(() => {
    if (focus === undefined) return
    list.current?.querySelector<HTMLElement>(`[data-focus="${focus}"]`)?.focus()
    setFocus(undefined)
  }, [focus])
  const move = (index: number, way: Way, from: string) => {
    const to = way === 'up' ? index - 1 : index + 1
    const [step, other] = [steps[index], steps[to]]
    if (!step || !other) return
    field.onChange(steps.map((each, at) => (at === index ? other : at === to ? step : each)))
    setNews(t('virtual.form.steps.moved', { model: step.model, place: to + 1, count: steps.length }))
    setFocus(`${step.key}-${from}`)
  }
  const remove = (index: number) => {
    const left = steps.filter((_, at) => at !== index)
    field.onChange(left)
    setFocus(`${(left[index] ?? left.at(-1))?.key}-model`)
  }
  const add = () => {
    const step = newStep()
    field.onChange([...steps, step])
    setFocus(`${step.key}-model`)
  }
  return (
    <fieldset aria-describedby={`${listId}-hint`} className="flex min-w-0 flex-col gap-2" data-field="steps">
      <legend className="float-left mb-1 w-full text-sm font-medium">{t('virtual.steps')}</legend>
      <p id={`${listId}-hint`} className="text-sm text-muted">
        {t('virtual.form.steps.hint')}
      </p>
      <ol ref={list} className="flex flex-col gap-2">
        {steps.map((step, index) => (
          <StepRow
            key={step.key}
            {...{ step, index, listId }}
            count={steps.length}
            errorId={error !== undefined && step.model.trim() === '' ? `${listId}-error` : undefined}
            onChange={(next) => field.onChange(steps.map((each) => (each.key === step.key ? next : each)))}
            onMove={(way, from) => move(index, way, from)}
            onRemove={() => remove(index)}
          />
        ))}
      </ol>
      {error !== undefined && (
        <p id={`${listId}-error`} className="text-sm text-bad">
          {error}
        </p>
      )}
      <p role="status" className="sr-only">
        {news}
      </p>
      <div>
        <Button icon={<Plus />} onClick={add} disabled={steps.length >= mostSteps}>
          {t('virtual.form.steps.add')}
        </Button>
      </div>
      <KnownModels id={listId} />
    </fieldset>
  )
}

function KnownModels({ id }: { id: string }) {
  const models = useQuery(knownModelsQuery)
  return (
    <datalist id={id}>
      {models.data?.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}

interface RowProps {
  step: StepValues
  index: number
  count: number
  listId: string
  /** Id of the error, if the step causes it. */
  errorId: string | undefined
  onChange(step: StepValues): void
  /** `from` is the control that has the focus. */
  onMove(way: Way, from: string): void
  onRemove(): void
}

const ways = { ArrowUp: 'up', ArrowDown: 'down' } as const

function StepRow({ step, index, count, listId, errorId, onChange, onMove, onRemove }: RowProps) {
  const t = useText()
  const name = step.model.trim() === '' ? String(index + 1) : step.model
  const onKeyDown = (event: KeyboardEvent<HTMLLIElement>) => {
    const way = event.altKey ? ways[event.key as keyof typeof ways] : undefined
    if (!way) return
    event.preventDefault()
    const from = event.target instanceof HTMLElement ? event.target.dataset['focus'] : undefined
    onMove(way, from?.replace(/^\d+-/, '') ?? 'model')
  }
  return (
    <li className="flex flex-col gap-2 rounded-md border border-line p-3" onKeyDown={onKeyDown}>
      <div className="flex items-center gap-2">
        <span className="num w-5 shrink-0 text-sm text-muted">{index + 1}.</span>
        <Input
          data-focus={`${step.key}-model`}
          aria-label={t('virtual.form.step.model', { place: index + 1 })}
          aria-invalid={errorId !== undefined || undefined}
          aria-describedby={errorId}
          list={listId}
          value={step.model}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange({ ...step, model: target.value })}
        />
        <IconButton
          data-focus={`${step.key}-up`}
          label={t('virtual.form.step.up', { model: name })}
          icon={<ArrowUp />}
          disabled={index === 0}
          onClick={() => onMove('up', 'up')}
        />
        <IconButton
          data-focus={`${step.key}-down`}
          label={t('virtual.form.step.down', { model: name })}
          icon={<ArrowDown />}
          disabled={index === count - 1}
          onClick={() => onMove('down', 'down')}
        />
        <IconButton
          label={t('virtual.form.step.remove', { model: name })}
          icon={<Trash2 />}
          disabled={count === 1}
          onClick={onRemove}
        />
      </div>
      <StepDetails step={step} onChange={onChange} />
    </li>
  )
}

function StepDetails({ step, onChange }: Pick<RowProps, 'step' | 'onChange'>) {
  const t = useText()
  const id = useId()
  const groups = useQuery(groupsQuery).data ?? []
  const known = step.group === '' || groups.includes(step.group) ? groups : [...groups, step.group]
  const number = (value: string) => (value.trim() === '' ? undefined : Number(value))
  const box = (name: 'weight' | 'timeout', most: number) => (
    <label className="flex flex-col gap-1 text-sm text-muted" htmlFor={`${id}-${name}`}>
      {t(`virtual.form.step.${name}`)}
      <Input
        id={`${id}-${name}`}
        type="number"
        className="num"
        {...{ min: 0, max: most, step: 1 }}
        value={step[name] ?? ''}
        onChange={({ target }) => onChange({ ...step, [name]: number(target.value) })}
      />
    </label>
  )
  return (
    <div className="grid gap-2 sm:grid-cols-3 sm:pl-7">
      <label className="flex flex-col gap-1 text-sm text-muted" htmlFor={`${id}-group`}>
        {t('virtual.form.step.group')}
        <Select
          id={`${id}-group`}
          value={step.group}
          onChange={({ target }) => onChange({ ...step, group: target.value })}
        >
          <option value="">{t('virtual.form.step.group.own')}</option>
          {known.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      </label>
      {box('timeout', 3600)}
      {box('weight', 1000)}
    </div>
  )
}
