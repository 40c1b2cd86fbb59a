import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Input, Textarea } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { Switch } from '../../components/ui/switch.tsx'
import { useScreen } from '../../lib/screen.ts'
import { useText } from '../../lib/text.ts'
import { maskedKey } from '../../lib/token-key.ts'
import { isTemperature, isTokenLimit, type Settings } from './parameters.ts'
import type { PlaygroundSearch } from './search.ts'

interface PanelProps {
  tokens: readonly Token[]
  token: Token
  models: UseQueryResult<string[]>
  /** `model` is the default model if the URL does not name a model. */
  search: PlaygroundSearch
  setSearch(patch: Partial<PlaygroundSearch>): void
  settings: Settings
  setSettings(settings: Settings): void
}

/** Chooses the model, the token and the parameters. */
export function SettingsPanel(props: PanelProps) {
  const t = useText()
  const id = useId()
  const { tokens, token, models, search, setSearch, settings, setSettings } = props
  const comparing = search.compare !== undefined
  const nameOf = (each: Token) => {
    const name = each.name || t('playground.token.unnamed', { id: each.id })
    return `${each.status === tokenStatus.enabled ? name : t('playground.token.off', { name })} · ${maskedKey(each)}`
  }
  return (
    <section
      aria-label={t('playground.settings')}
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4 lg:sticky lg:top-16"
    >
      <Labelled id={`${id}-token`} label={t('playground.token')}>
        <Select
          id={`${id}-token`}
          value={token.id}
          // The available models depend on the token, so the chosen models are cleared.
          onChange={(event) => setSearch({ token: Number(event.target.value), model: undefined, compare: undefined })}
        >
          {tokens.map((each) => (
            <option key={each.id} value={each.id} disabled={each.status !== tokenStatus.enabled}>
              {nameOf(each)}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id={`${id}-model`} label={t('playground.model')}>
        <ModelSelect
          id={`${id}-model`}
          models={models}
          value={search.model}
          onChange={(model) => setSearch({ model })}
        />
      </Labelled>
      <ModelState models={models} />
      {comparing && (
        <Labelled id={`${id}-second`} label={t('playground.model.second')}>
          <ModelSelect
            id={`${id}-second`}
            models={models}
            value={search.compare}
            onChange={(compare) => setSearch({ compare })}
          />
        </Labelled>
      )}
      <div className="flex items-center justify-between gap-3 text-sm">
        <label htmlFor={`${id}-compare`}>{t('playground.compare')}</label>
        <Switch
          id={`${id}-compare`}
          checked={comparing}
          disabled={search.model === undefined || models.isPending}
          onChange={({ target }) =>
            setSearch({ compare: target.checked ? secondOf(models.data, search.model) : undefined })
          }
        />
      </div>
      <ParameterBoxes settings={settings} setSettings={setSettings} />
    </section>
  )
}

/** Additional parameters; collapsed on small screens. */
function ParameterBoxes({ settings, setSettings }: Pick<PanelProps, 'settings' | 'setSettings'>) {
  const t = useText()
  const id = useId()
  const wide = useScreen('lg')
  // Only the initial state depends on the width, so that the user's choice stays.
  const [open] = useState(wide)
  return (
    <details open={open}>
      <summary className="w-fit cursor-pointer text-sm font-medium">{t('playground.parameters')}</summary>
      <div className="mt-3 flex flex-col gap-4">
        <Labelled id={`${id}-system`} label={t('playground.system')}>
          <Textarea
            id={`${id}-system`}
            rows={3}
            value={settings.system}
            onChange={(event) => setSettings({ ...settings, system: event.target.value })}
          />
        </Labelled>
        <NumberBox
          id={`${id}-temperature`}
          label={t('playground.temperature')}
          value={settings.temperature}
          error={isTemperature(settings.temperature) ? undefined : t('playground.temperature.invalid')}
          onChange={(temperature) => setSettings({ ...settings, temperature })}
        />
        <NumberBox
          id={`${id}-max`}
          label={t('playground.maxTokens')}
          value={settings.maxTokens}
          error={isTokenLimit(settings.maxTokens) ? undefined : t('playground.maxTokens.invalid')}
          onChange={(maxTokens) => setSettings({ ...settings, maxTokens })}
        />
      </div>
    </details>
  )
}

/** A model other than the first, if there is one; otherwise the first. */
function secondOf(models: readonly string[] | undefined, first: string | undefined): string | undefined {
  return models?.find((model) => model !== first) ?? first
}

function Labelled({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
    </div>
  )
}

interface ModelSelectProps {
  id: string
  models: UseQueryResult<string[]>
  value: string | undefined
  onChange(model: string): void
}

function ModelSelect({ id, models, value, onChange }: ModelSelectProps) {
  const t = useText()
  const known = models.data ?? []
  const all = value !== undefined && !known.includes(value) ? [value, ...known] : known
  return (
    <Select id={id} value={value ?? ''} disabled={all.length === 0} onChange={(event) => onChange(event.target.value)}>
      {/* Without this entry, the browser would show the first model as selected. */}
      {value === undefined && (
        <option value="" disabled={all.length > 0}>
          {models.isPending || all.length > 0 ? t('playground.models.loading') : '–'}
        </option>
      )}
      {all.map((model) => (
        <option key={model} value={model}>
          {model}
        </option>
      ))}
    </Select>
  )
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

interface NumberBoxProps {
  id: string
  label: string
  value: string
  error: string | undefined
  onChange(value: string): void
}

function NumberBox({ id, label, value, error, onChange }: NumberBoxProps) {
  const t = useText()
  return (
    <Labelled id={id} label={label}>
      <Input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        className="num"
        value={value}
        placeholder={t('playground.auto')}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onChange={(event) => onChange(event.target.value)}
      />
      {error !== undefined && (
        <p id={`${id}-error`} role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
    </Labelled>
  )
}
