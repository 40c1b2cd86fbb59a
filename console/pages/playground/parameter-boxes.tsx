import { useId, useState } from 'react'
import type { ModelFacts } from '../../../contract/api/model.ts'
import { Button } from '../../components/ui/button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { Select } from '../../components/ui/select.tsx'
import { useScreen } from '../../lib/screen.ts'
import { useText } from '../../lib/text.ts'
import { Labelled, NumberBox } from './labelled.tsx'
import type { Lanes } from './lanes.ts'
import { efforts, emptySettings, isTemperature, isTokenLimit, isTopP, type Settings } from './parameters.ts'

interface ParameterBoxesProps {
  lanes: Lanes
  facts: ReadonlyMap<string, ModelFacts>
}

/** The parameters of each model; collapsed on small screens. */
export function ParameterBoxes({ lanes, facts }: ParameterBoxesProps) {
  const t = useText()
  const wide = useScreen('lg')
  // Only the initial state depends on the width. Later, the user's choice counts.
  const [open] = useState(wide)
  const [chosen, setChosen] = useState(0)
  const { models } = lanes
  const lane = Math.min(chosen, Math.max(0, models.length - 1))
  const model = models[lane]
  const settings = lanes.settings[lane] ?? emptySettings
  const change = (patch: Partial<Settings>) => lanes.setSettings(lane, { ...settings, ...patch })
  const reasons = model !== undefined && facts.get(model)?.reasoning === true
  return (
    <details open={open}>
      <summary className="w-fit cursor-pointer text-sm font-medium">{t('playground.parameters')}</summary>
      <div className="mt-3 flex flex-col gap-4">
        {models.length > 1 && (
          <div className="flex flex-col items-start gap-2">
            <Segmented
              wraps
              label={t('playground.parameters.of')}
              options={models.map((each, index) => ({ value: String(index), label: `${index + 1}. ${each}` }))}
              value={String(lane)}
              onChange={(value) => setChosen(Number(value))}
            />
            <Button size="small" onClick={() => lanes.copyToAll(lane)}>
              {t('playground.parameters.copy')}
            </Button>
          </div>
        )}
        <Boxes settings={settings} change={change} reasons={reasons} />
      </div>
    </details>
  )
}

interface BoxesProps {
  settings: Settings
  change(patch: Partial<Settings>): void
  /** Whether the model is known to support reasoning. */
  reasons: boolean
}

function Boxes({ settings, change, reasons }: BoxesProps) {
  const t = useText()
  const id = useId()
  return (
    <>
      <Labelled id={`${id}-system`} label={t('playground.system')}>
        <Textarea
          id={`${id}-system`}
          rows={3}
          value={settings.system}
          onChange={(event) => change({ system: event.target.value })}
        />
      </Labelled>
      {reasons && (
        <Labelled id={`${id}-effort`} label={t('playground.effort')}>
          <Select
            id={`${id}-effort`}
            value={settings.effort}
            onChange={(event) => change({ effort: event.target.value })}
          >
            <option value="">{t('playground.auto')}</option>
            {efforts.map((effort) => (
              <option key={effort} value={effort}>
                {t(`playground.effort.${effort}`)}
              </option>
            ))}
          </Select>
        </Labelled>
      )}
      <div className="grid grid-cols-2 items-start gap-3">
        <NumberBox
          id={`${id}-temperature`}
          label={t('playground.temperature')}
          value={settings.temperature}
          error={isTemperature(settings.temperature) ? undefined : t('playground.temperature.invalid')}
          onChange={(temperature) => change({ temperature })}
        />
        <NumberBox
          id={`${id}-top-p`}
          label={t('playground.topP')}
          value={settings.topP}
          error={isTopP(settings.topP) ? undefined : t('playground.topP.invalid')}
          onChange={(topP) => change({ topP })}
        />
      </div>
      <NumberBox
        id={`${id}-max`}
        label={t('playground.maxTokens')}
        value={settings.maxTokens}
        error={isTokenLimit(settings.maxTokens) ? undefined : t('playground.maxTokens.invalid')}
        onChange={(maxTokens) => change({ maxTokens })}
      />
    </>
  )
}
