import { ChevronDown } from 'lucide-react'
import { useId } from 'react'
import { ModelMark } from '../../components/provider-mark.tsx'
import { inputClass } from '../../components/ui/input.tsx'
import { lazyPart, OnDemand } from '../../components/ui/on-demand.tsx'
import { importPart } from '../../lib/chunk.ts'
import type { ModelListProps } from './model-list.tsx'

const part = lazyPart<ModelListProps>(async () => (await importPart(() => import('./model-list.tsx'))).ModelList)

interface ModelPickerProps {
  label: string
  models: readonly string[] | undefined
  value: string | undefined
  /** Shown while no model is chosen. */
  placeholder: string
  onChange(model: string): void
}

/** A box that shows the chosen model. It opens a list of all models with a search. */
export function ModelPicker({ label, models, value, placeholder, onChange }: ModelPickerProps) {
  const id = useId()
  const trigger = (
    <button
      type="button"
      aria-labelledby={`${id}-label ${id}-value`}
      disabled={!models || models.length === 0}
      className={`${inputClass} flex items-center gap-2 text-start enabled:cursor-pointer`}
    >
      {value !== undefined && <ModelMark model={value} className="shrink-0" />}
      <span id={`${id}-value`} className={`min-w-0 flex-1 truncate ${value === undefined ? 'text-muted' : ''}`}>
        {value ?? placeholder}
      </span>
      <ChevronDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
    </button>
  )
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <span id={`${id}-label`} className="text-sm font-medium">
        {label}
      </span>
      <OnDemand part={part} trigger={trigger} popup="dialog">
        {(Popup) => <Popup label={label} trigger={trigger} models={models ?? []} value={value} onChange={onChange} />}
      </OnDemand>
    </div>
  )
}
