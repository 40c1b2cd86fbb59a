import type { UseQueryResult } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import type { ModelFacts } from '../../../contract/api/model.ts'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Select } from '../../components/ui/select.tsx'
import { useText } from '../../lib/text.ts'
import { maskedKey } from '../../lib/token-key.ts'
import { FormatBoxes } from './format-boxes.tsx'
import { Labelled } from './labelled.tsx'
import { type Lanes, mostModels } from './lanes.ts'
import { ModelPicker } from './model-picker.tsx'
import { ParameterBoxes } from './parameter-boxes.tsx'
import type { Extras } from './request.ts'

interface PanelProps {
  tokens: readonly Token[]
  token: Token
  models: UseQueryResult<string[]>
  facts: ReadonlyMap<string, ModelFacts>
  lanes: Lanes
  extras: Extras
  setExtras(extras: Extras): void
  setToken(id: number): void
}

/** Chooses the token, the models and everything that is sent with the messages. */
export function SettingsPanel(props: PanelProps) {
  const t = useText()
  const id = useId()
  const { tokens, token, models, lanes } = props
  const nameOf = (each: Token) => {
    const name = each.name || t('playground.token.unnamed', { id: each.id })
    return `${each.status === tokenStatus.enabled ? name : t('playground.token.off', { name })} · ${maskedKey(each)}`
  }
  return (
    <section
      aria-label={t('playground.settings')}
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4 lg:sticky lg:top-16 lg:max-h-[calc(100dvh-5rem)] lg:overflow-y-auto"
    >
      <Labelled id={`${id}-token`} label={t('playground.token')}>
        <Select id={`${id}-token`} value={token.id} onChange={(event) => props.setToken(Number(event.target.value))}>
          {tokens.map((each) => (
            <option key={each.id} value={each.id} disabled={each.status !== tokenStatus.enabled}>
              {nameOf(each)}
            </option>
          ))}
        </Select>
      </Labelled>
      <ModelBoxes models={models} lanes={lanes} />
      <ParameterBoxes lanes={lanes} facts={props.facts} />
      <FormatBoxes extras={props.extras} setExtras={props.setExtras} />
    </section>
  )
}

/** The chosen models, one below the other. */
function ModelBoxes({ models, lanes }: Pick<PanelProps, 'models' | 'lanes'>) {
  const t = useText()
  const known = models.data ?? []
  const chosen: readonly (string | undefined)[] = lanes.models.length === 0 ? [undefined] : lanes.models
  const waits = models.isPending || known.length > 0
  return (
    <div className="flex flex-col gap-3">
      {chosen.map((model, lane) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a model may be chosen twice
        <div key={lane} className="flex items-end gap-1">
          <ModelPicker
            label={lane === 0 ? t('playground.model') : t('playground.model.further', { number: lane + 1 })}
            models={models.data}
            value={model}
            placeholder={waits ? t('playground.models.loading') : '–'}
            onChange={(next) => lanes.setModel(lane, next)}
          />
          {chosen.length > 1 && (
            <IconButton
              className="mb-0.5 max-sm:mb-0"
              label={t('playground.model.remove', { model: `${lane + 1}. ${model ?? ''}` })}
              icon={<X />}
              onClick={() => lanes.remove(lane)}
            />
          )}
        </div>
      ))}
      <ModelState models={models} />
      {chosen.length < mostModels && (
        <Button
          size="small"
          icon={<Plus />}
          className="self-start"
          disabled={lanes.models.length === 0 || known.length === 0}
          onClick={() => lanes.add(nextOf(known, lanes.models))}
        >
          {t('playground.model.add')}
        </Button>
      )}
    </div>
  )
}

/** A model that has not been chosen yet, if there is one; otherwise the first chosen one. */
function nextOf(known: readonly string[], chosen: readonly string[]): string {
  return known.find((model) => !chosen.includes(model)) ?? chosen[0] ?? ''
}

/** Explains why there are no models. */
function ModelState({ models }: { models: UseQueryResult<string[]> }) {
  const t = useText()
  if (models.isError) {
    return (
      <Banner kind="bad" live>
        <p>{t('playground.models.failed', { message: models.error.message })}</p>
        <Button size="small" className="mt-2" busy={models.isFetching} onClick={() => void models.refetch()}>
          {t('do.retry')}
        </Button>
      </Banner>
    )
  }
  if (models.data?.length !== 0) return null
  return (
    <Banner kind="warn" live>
      {t('playground.models.none')}
    </Banner>
  )
}
