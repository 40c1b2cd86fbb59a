import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { ChannelLimit } from '../../../contract/api/channel-limits.ts'
import { type CapMetric, type CapWindow, capMetrics, capWindows, mostCaps } from '../../../contract/caps.ts'
import { SwitchField } from '../../components/form/choice-fields.tsx'
import { MomentBox } from '../../components/form/moment-box.tsx'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { Select } from '../../components/ui/select.tsx'
import { formatQuota } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { FormSection } from './form-section.tsx'
import type { ChannelValues, LimitValue } from './form-values.ts'
import { limitsQuery } from './queries.ts'

const newLimit: LimitValue = {
  owner: 'channel',
  metric: 'calls',
  window: 'now',
  models: '',
  most: undefined,
  raise: 0,
  raise_until: 0,
  zone: 'UTC',
}

const calendar: readonly CapWindow[] = ['day', 'week', 'month']

/** The switch for draining (the channel gets no new sessions), and the limits of the channel and of its keys. */
export function LimitsField({ form }: { form: UseFormReturn<ChannelValues> }) {
  const t = useText()
  const inPlace = useFocusInPlace()
  const [limits, keyUse] = form.watch(['limits', 'key_use'])
  const localZone = useQuery({ ...limitsQuery, refetchInterval: false }).data?.local_zone ?? 'UTC'
  // Errors of the form are listed by the path of their field.
  const problems = form.formState.errors as Readonly<Record<string, { message?: string } | undefined>>
  const set = (next: LimitValue[]) =>
    form.setValue('limits', next, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  const change = (index: number, fields: Partial<LimitValue>) =>
    set(limits.map((limit, at) => (at === index ? { ...limit, ...fields } : limit)))
  return (
    <FormSection title={t('channel.form.limits')} hint={t('channel.form.limits.hint')}>
      <div {...inPlace} className="flex flex-col gap-5">
        {limits.length > 0 && (
          <ul className="flex flex-col gap-4">
            {limits.map((limit, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity of their own
              <li key={index}>
                <Limit
                  number={index + 1}
                  limit={limit}
                  localZone={localZone}
                  problem={problems[`limits.${index}.most`]?.message}
                  mayBeOfKeys={keyUse === 'multi' || limit.owner === 'key'}
                  onChange={(fields) => change(index, fields)}
                  onRemove={() => set(limits.filter((_, at) => at !== index))}
                />
              </li>
            ))}
          </ul>
        )}
        <Button
          size="small"
          className="self-start"
          disabled={limits.length >= mostCaps}
          onClick={() => set([...limits, newLimit])}
        >
          <Plus className="size-4" />
          {t('channel.form.limits.add')}
        </Button>
      </div>
      <SwitchField
        control={form.control}
        name="draining"
        label={t('channel.form.draining')}
        hint={t('channel.form.draining.hint')}
      />
    </FormSection>
  )
}

interface LimitProps {
  number: number
  limit: LimitValue
  /** The installation's time zone. */
  localZone: string
  /** What is wrong with the maximum. */
  problem: string | undefined
  mayBeOfKeys: boolean
  onChange(fields: Partial<LimitValue>): void
  onRemove(): void
}

function Limit({ number, limit, localZone, problem, mayBeOfKeys, onChange, onRemove }: LimitProps) {
  const t = useText()
  const { metric, window, owner, most, models, zone } = limit
  const windows = capWindows.filter((each) => (each === 'now') === (metric === 'calls'))
  const zones = [...new Set(['UTC', localZone, zone])]
  const setMetric = (next: CapMetric) => {
    const fits = (next === 'calls') === (window === 'now')
    onChange({ metric: next, ...(!fits && { window: next === 'calls' ? 'now' : 'minute' }) })
  }
  const isUnits = metric === 'quota' || metric === 'cost'
  return (
    <fieldset className="grid gap-3 rounded-md border border-line p-3 sm:grid-cols-2">
      <legend className="sr-only">{t('channel.form.limits.row', { number })}</legend>
      <Box label={t('channel.limit.metric')}>
        {(id) => (
          <Select id={id} value={metric} onChange={(event) => setMetric(event.target.value as CapMetric)}>
            {capMetrics.map((each) => (
              <option key={each} value={each}>
                {t(`channel.limit.metric.${each}`)}
              </option>
            ))}
          </Select>
        )}
      </Box>
      <NumberBox
        label={t('channel.limit.most')}
        problem={problem}
        hint={isUnits && most ? formatQuota(most) : undefined}
        value={most}
        onText={(text) => onChange({ most: text === '' ? undefined : Number(text) })}
      />
      {metric !== 'calls' && (
        <Box label={t('channel.limit.window')}>
          {(id) => (
            <Select
              id={id}
              value={window}
              onChange={(event) => onChange({ window: event.target.value as ChannelLimit['window'] })}
            >
              {windows.map((each) => (
                <option key={each} value={each}>
                  {t(`channel.limit.window.${each}`)}
                </option>
              ))}
            </Select>
          )}
        </Box>
      )}
      {calendar.includes(window) && (
        <Box label={t('channel.limit.zone')}>
          {(id) => (
            <Select id={id} value={zone} onChange={(event) => onChange({ zone: event.target.value })}>
              {zones.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </Select>
          )}
        </Box>
      )}
      {mayBeOfKeys && (
        <Box label={t('channel.limit.owner')}>
          {(id) => (
            <Select
              id={id}
              value={owner}
              onChange={(event) => onChange({ owner: event.target.value as ChannelLimit['owner'] })}
            >
              <option value="channel">{t('channel.limit.owner.channel')}</option>
              <option value="key">{t('channel.limit.owner.key')}</option>
            </Select>
          )}
        </Box>
      )}
      <Box label={t('channel.limit.models')} hint={t('channel.limit.models.hint')}>
        {(id, describedBy) => (
          <Input
            id={id}
            value={models}
            maxLength={2000}
            aria-describedby={describedBy}
            onChange={(event) => onChange({ models: event.target.value })}
          />
        )}
      </Box>
      <Raise limit={limit} onChange={onChange} />
      <div className="flex items-center justify-end gap-2 sm:col-span-2">
        <IconButton label={t('channel.form.limits.remove', { number })} icon={<X />} onClick={onRemove} />
      </div>
    </fieldset>
  )
}

const daySeconds = 86_400

/** An additional amount that is allowed temporarily. A new raise lasts one day unless another time is chosen. */
function Raise({ limit, onChange }: Pick<LimitProps, 'limit' | 'onChange'>) {
  const t = useText()
  const { metric, raise, raise_until: until } = limit
  const isUnits = metric === 'quota' || metric === 'cost'
  const setRaise = (text: string) => {
    const next = Math.max(0, Math.floor(Number(text)))
    const now = Math.floor(Date.now() / 1000)
    onChange({ raise: next, raise_until: next === 0 ? 0 : until > now ? until : now + daySeconds })
  }
  return (
    <>
      <NumberBox
        label={t('channel.limit.raise')}
        hint={isUnits && raise > 0 ? formatQuota(raise) : t('channel.limit.raise.hint')}
        value={raise > 0 ? raise : undefined}
        onText={setRaise}
      />
      {raise > 0 && (
        <div className="flex min-w-0 flex-col gap-1">
          <span className="text-sm font-medium" aria-hidden="true">
            {t('channel.limit.until')}
          </span>
          <MomentBox
            label={t('channel.limit.until')}
            value={until}
            onChange={(next) => next !== undefined && onChange({ raise_until: next })}
          />
        </div>
      )}
    </>
  )
}

interface BoxProps {
  label: string
  hint?: string | undefined
  problem?: string | undefined
}

/** A box for a whole number of at least 1. */
function NumberBox({ value, onText, ...box }: BoxProps & { value: number | undefined; onText(text: string): void }) {
  return (
    <Box {...box}>
      {(id, describedBy) => (
        <Input
          id={id}
          type="number"
          min={1}
          step={1}
          className="num"
          aria-invalid={box.problem !== undefined || undefined}
          aria-describedby={describedBy}
          value={value ?? ''}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </Box>
  )
}

function Box(
  props: BoxProps & {
    children(id: string, describedBy: string | undefined): ReactNode
  },
) {
  const id = useId()
  const describedBy = [props.problem !== undefined && `${id}-error`, props.hint !== undefined && `${id}-hint`]
    .filter((part) => part !== false)
    .join(' ')
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {props.label}
      </label>
      {props.children(id, describedBy === '' ? undefined : describedBy)}
      {props.problem !== undefined && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {props.problem}
        </p>
      )}
      {props.hint !== undefined && (
        <p id={`${id}-hint`} className="num text-sm text-muted">
          {props.hint}
        </p>
      )}
    </div>
  )
}
