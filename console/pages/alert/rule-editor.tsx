import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { type Control, useController } from 'react-hook-form'
import { type AlertKind, alertCondition, alertKindsFor } from '../../../contract/alert-conditions.ts'
import { SelectField, SwitchField } from '../../components/form/choice-fields.tsx'
import { Field } from '../../components/form/field.tsx'
import { Form } from '../../components/form/form.tsx'
import { NumberField, QuotaField } from '../../components/form/number-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { Select } from '../../components/ui/select.tsx'
import { useLanguage, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { EditorFooter } from './editor-footer.tsx'
import { MessageFields } from './message-fields.tsx'
import { type AlertScope, channelChoicesQuery, destinationsQuery, saveRule } from './queries.ts'
import { type RuleDraft, type RuleValues, ruleBody, ruleSchema, ruleValues, usualThreshold } from './rule-values.ts'

const reminders = [0, 1, 4, 12, 24, 72, 168]

interface RuleEditorProps {
  scope: AlertScope
  draft: RuleDraft
  onClose(): void
}

/** The drawer in which a rule is created or changed. */
export function RuleEditor({ scope, draft, onClose }: RuleEditorProps) {
  const t = useText()
  const language = useLanguage()
  const form = useAppForm<RuleValues>({ schema: ruleSchema, values: ruleValues(draft, language) })
  const { control } = form
  const kind = form.watch('kind')
  const { requests, channel } = alertCondition(kind)
  const change = (next: AlertKind) => {
    // If the user has not changed the name, it changes with the condition.
    if (form.getValues('name') === t(`alert.kind.${kind}`)) form.setValue('name', t(`alert.kind.${next}`))
    form.setValue('threshold', usualThreshold(next))
    form.setValue('channel_id', '0')
    form.setValue('kind', next)
  }
  const save = async (values: RuleValues) => {
    await saveRule(scope, draft.id, ruleBody(values))
    onClose()
    toast.success(t('alert.rule.saved'))
  }
  const title = t(draft.id === undefined ? 'alert.rule.new' : 'alert.rule.edit')
  return (
    <Drawer open onClose={onClose} title={title}>
      <Form form={form} label={title} onSubmit={save}>
        <KindField scope={scope} kind={kind} fixed={draft.id !== undefined} onChange={change} control={control} />
        <TextField control={control} name="name" label={t('alert.form.name')} autoComplete="off" />
        <ThresholdField control={control} kind={kind} />
        {requests && (
          <div className="grid gap-5 sm:grid-cols-2">
            <NumberField
              control={control}
              name="minutes"
              label={t('alert.form.minutes')}
              unit={t('alert.form.minutesUnit')}
              min={5}
              max={60}
              step={1}
            />
            <NumberField
              control={control}
              name="min_calls"
              label={t('alert.form.calls')}
              hint={t('alert.form.calls.hint')}
              min={1}
              step={1}
            />
          </div>
        )}
        {channel && <ChannelField control={control} />}
        <DestinationField control={control} scope={scope} />
        <SelectField
          control={control}
          name="remind_hours"
          label={t('alert.form.remind')}
          options={reminders.map((count) => ({
            value: String(count),
            label: count === 0 ? t('alert.form.remind.never') : t('alert.form.remind.hours', { count }),
          }))}
        />
        <SwitchField control={control} name="send_resolved" label={t('alert.form.resolved')} />
        <QuietFields control={control} />
        <MessageFields form={form} />
        <EditorFooter busy={form.formState.isSubmitting} onCancel={onClose} />
      </Form>
    </Drawer>
  )
}

function KindField(props: {
  scope: AlertScope
  kind: AlertKind
  fixed: boolean
  control: Control<RuleValues>
  onChange(kind: AlertKind): void
}) {
  const t = useText()
  const kinds = alertKindsFor(props.scope)
  return (
    <Field control={props.control} name="kind" label={t('alert.form.kind')}>
      {({ id, field }) => (
        <Select
          {...field}
          id={id}
          value={props.kind}
          disabled={props.fixed}
          onChange={({ target }) => props.onChange(kinds.find((each) => each === target.value) ?? props.kind)}
        >
          {kinds.map((value) => (
            <option key={value} value={value}>
              {t(`alert.kind.${value}`)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function ThresholdField({ control, kind }: { control: Control<RuleValues>; kind: AlertKind }) {
  const t = useText()
  const { unit } = alertCondition(kind)
  if (unit === 'none') return null
  const label = t(`alert.form.threshold.${unit}`)
  if (unit === 'quota') return <QuotaField control={control} name="threshold" label={label} presets={false} min={1} />
  const units = {
    percent: '%',
    factor: '×',
    money: undefined,
    seconds: t('alert.form.seconds'),
    days: t('alert.form.daysUnit'),
  }
  const hint =
    unit === 'money' ? t('alert.form.money.hint') : unit === 'factor' ? t('alert.form.factor.hint') : undefined
  const shown = units[unit]
  return (
    <NumberField
      control={control}
      name="threshold"
      label={label}
      hint={hint}
      step="any"
      {...(shown !== undefined && { unit: shown })}
    />
  )
}

function ChannelField({ control }: { control: Control<RuleValues> }) {
  const t = useText()
  const channels = useQuery(channelChoicesQuery)
  const { field } = useController({ control, name: 'channel_id' })
  const known = channels.data ?? []
  // The chosen channel may be missing from the loaded list.
  const missing = field.value !== '0' && !known.some(({ id }) => String(id) === field.value)
  return (
    <SelectField
      control={control}
      name="channel_id"
      label={t('alert.form.channel')}
      options={[
        { value: '0', label: t('alert.form.channel.any') },
        ...(missing ? [{ value: field.value, label: `#${field.value}` }] : []),
        ...known.map(({ id, name }) => ({ value: String(id), label: `#${id} ${name}` })),
      ]}
    />
  )
}

/** Where the messages go: a checkbox for each destination. */
function DestinationField({ control, scope }: { control: Control<RuleValues>; scope: AlertScope }) {
  const t = useText()
  const destinations = useQuery(destinationsQuery(scope))
  const id = useId()
  const { field, fieldState } = useController({ control, name: 'destinations' })
  const error = fieldState.error?.message
  const toggle = (id: number, on: boolean) =>
    field.onChange(on ? [...field.value, id] : field.value.filter((each) => each !== id))
  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="flex min-w-0 flex-col gap-2">
      <legend className="float-left mb-1 w-full text-sm font-medium">{t('alert.form.destinations')}</legend>
      {destinations.data?.length === 0 && <p className="text-sm text-muted">{t('alert.form.destinations.none')}</p>}
      {destinations.data?.map(({ id, name, kind }) => (
        <label key={id} className="flex min-w-0 items-center gap-2 text-sm">
          <Checkbox checked={field.value.includes(id)} onChange={(event) => toggle(id, event.target.checked)} />
          <span className="min-w-0 break-words">{name}</span>
          <span className="text-muted">{t(`alert.kindOf.${kind}`)}</span>
        </label>
      ))}
      {error !== undefined && (
        <p id={id} className="text-sm text-bad">
          {error}
        </p>
      )}
    </fieldset>
  )
}

function QuietFields({ control }: { control: Control<RuleValues> }) {
  const t = useText()
  const id = useId()
  return (
    <fieldset aria-describedby={id} className="flex min-w-0 flex-col gap-3 border-t border-line pt-4">
      <legend className="float-left w-full text-base font-medium">{t('alert.form.quiet')}</legend>
      <p id={id} className="text-sm text-muted">
        {t('alert.form.quiet.hint')}
      </p>
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField control={control} name="quiet_start" type="time" label={t('alert.form.quiet.start')} />
        <TextField control={control} name="quiet_end" type="time" label={t('alert.form.quiet.end')} />
        <TextField
          control={control}
          name="time_zone"
          label={t('alert.form.zone')}
          spellCheck={false}
          autoComplete="off"
        />
      </div>
    </fieldset>
  )
}
