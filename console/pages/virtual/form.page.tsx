import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type Control, useController } from 'react-hook-form'
import type { VirtualModel } from '../../../contract/api/virtual-model.ts'
import { stepFailures } from '../../../contract/step-failures.ts'
import { SelectField, SwitchField } from '../../components/form/choice-fields.tsx'
import { ComboboxField } from '../../components/form/combobox-field.tsx'
import { Form, FormFooter } from '../../components/form/form.tsx'
import { NumberField } from '../../components/form/number-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Page } from '../../components/ui/page.tsx'
import { ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useCrumb } from '../../lib/crumb.ts'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { DryRunPanel } from './dry-run-panel.tsx'
import { type VirtualValues, virtualBody, virtualSchema, virtualValues } from './form-values.ts'
import { saveVirtualModel, virtualModelsQuery } from './queries.ts'
import { StepsField } from './steps-field.tsx'
import { Warnings } from './warnings.tsx'

/** `/virtual-model/add` and `/virtual-model/edit/{id}`. */
export function VirtualModelFormPage() {
  const t = useText()
  const { id } = useParams({ strict: false })
  return (
    <Page title={t(id === undefined ? 'virtual.addTitle' : 'virtual.editTitle')} width="narrow">
      {id === undefined ? <ModelForm model={undefined} /> : <EditModel id={id} />}
    </Page>
  )
}

function EditModel({ id }: { id: string }) {
  const t = useText()
  const models = useQuery({ ...virtualModelsQuery, staleTime: 0 })
  const model = models.data?.find((each) => String(each.id) === id)
  // The form keeps its initial values, so it waits for fresh data. Cached data may be out of date.
  if (models.isPending || (models.isFetching && !models.isFetchedAfterMount)) return <FieldsSkeleton className="h-96" />
  if (model) return <ModelForm model={model} />
  return (
    <ErrorState
      title={t('virtual.notFound')}
      text={models.error?.message}
      onRetry={models.isError ? () => void models.refetch() : undefined}
    >
      <Link to="/virtual-model" className={buttonClass()}>
        {t('do.back')}
      </Link>
    </ErrorState>
  )
}

function ModelForm({ model }: { model: VirtualModel | undefined }) {
  const t = useText()
  useCrumb(model?.name ?? '')
  const navigate = useNavigate()
  const form = useAppForm<VirtualValues>({ schema: virtualSchema, values: virtualValues(model) })
  const { control } = form
  const isFixed = form.watch('pricing') === 'fixed'
  const leave = () => navigate({ to: '/virtual-model' })
  const save = async (values: VirtualValues) => {
    await saveVirtualModel(model?.id, virtualBody(values))
    await leave()
    toast.success(t('virtual.saved'))
  }
  return (
    <>
      <div className="rounded-lg border border-line bg-surface px-4 pt-4">
        <Form form={form} label={t(model ? 'virtual.editTitle' : 'virtual.addTitle')} onSubmit={save}>
          {model && model.warnings.length > 0 && (
            <div className="flex flex-col gap-1">
              <Warnings warnings={model.warnings} />
            </div>
          )}
          <TextField
            control={control}
            name="name"
            label={t('virtual.form.name')}
            hint={t('virtual.form.name.hint')}
            autoComplete="off"
            spellCheck={false}
          />
          <TextField
            control={control}
            name="description"
            label={t('virtual.form.description')}
            autoComplete="off"
            optional
          />
          <StepsField control={control} />
          <FailuresField control={control} />
          <PriceFields control={control} isFixed={isFixed} />
          <GroupsField control={control} />
          <SelectField
            control={control}
            name="rescue"
            label={t('virtual.form.rescue')}
            hint={t('virtual.form.rescue.hint')}
            options={(['option', 'on', 'off'] as const).map((value) => ({
              value,
              label: t(`virtual.form.rescue.${value}`),
            }))}
          />
          <SwitchField control={control} name="enabled" label={t('virtual.form.enabled')} />
          <FormFooter submit={t('do.save')} busy={form.formState.isSubmitting} onCancel={() => void leave()} />
        </Form>
      </div>
      <DryRunPanel draft={() => virtualBody(form.getValues())} />
    </>
  )
}

/** A checkbox for each failure after which the next step is taken. */
function FailuresField({ control }: { control: Control<VirtualValues> }) {
  const t = useText()
  const { field } = useController({ control, name: 'failures' })
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="float-left mb-1 w-full text-sm font-medium">{t('virtual.form.failures')}</legend>
      {stepFailures.map((failure) => (
        <label key={failure} className="flex min-w-0 items-start gap-2 text-sm">
          <Checkbox
            className="mt-0.5"
            checked={field.value.includes(failure)}
            onChange={({ target }) =>
              field.onChange(
                target.checked ? [...field.value, failure] : field.value.filter((each) => each !== failure),
              )
            }
          />
          <span className="min-w-0">
            {t(`virtual.failure.${failure}`)}
            <span className="block text-muted">{t(`virtual.failure.${failure}.hint`)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const prices = ['input', 'output', 'cached', 'cache_write', 'request'] as const

function PriceFields({ control, isFixed }: { control: Control<VirtualValues>; isFixed: boolean }) {
  const t = useText()
  return (
    <>
      <SelectField
        control={control}
        name="pricing"
        label={t('virtual.form.pricing')}
        hint={t('virtual.form.pricing.hint')}
        options={(['step', 'fixed'] as const).map((value) => ({ value, label: t(`virtual.form.pricing.${value}`) }))}
      />
      {isFixed && (
        <div className="grid gap-3 sm:grid-cols-2">
          {prices.map((name) => (
            <NumberField
              key={name}
              control={control}
              name={name}
              label={t(`virtual.form.price.${name}`)}
              unit="$"
              min={0}
              step="any"
            />
          ))}
        </div>
      )}
    </>
  )
}

function GroupsField({ control }: { control: Control<VirtualValues> }) {
  const t = useText()
  const groups = useQuery(groupsQuery)
  return (
    <ComboboxField
      control={control}
      name="groups"
      label={t('virtual.form.groups')}
      hint={t('virtual.form.groups.hint')}
      options={(groups.data ?? []).map((name) => ({ value: name, label: name }))}
      creatable
      optional
    />
  )
}
