import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { maxCodePrefix, maxRedemptions, type Redemption } from '../../../contract/api/redemption.ts'
import { DateTimeField, type TimePreset } from '../../components/form/date-time-field.tsx'
import { Form, FormFooter } from '../../components/form/form.tsx'
import { NumberField, QuotaField } from '../../components/form/number-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useCrumb } from '../../lib/crumb.ts'
import { downloadFile } from '../../lib/download.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { wayBack } from '../../lib/way-back.ts'
import { type NewCodes, newCodes, newCodesSchema, type RedemptionValues, redemptionSchema } from './form-values.ts'
import { type Made, MadeCodes } from './made-codes.tsx'
import { createCodes, redemptionQuery, updateRedemption } from './queries.ts'

/** `/redemption/add` and `/redemption/edit/{id}`. */
export function RedemptionFormPage() {
  const t = useText()
  const { id } = useParams({ strict: false })
  return (
    <Page title={t(id === undefined ? 'redemption.addTitle' : 'redemption.editTitle')} width="narrow">
      {id === undefined ? <NewCodesForm /> : <EditCode id={id} />}
    </Page>
  )
}

function EditCode({ id }: { id: string }) {
  const t = useText()
  const query = useQuery({ ...redemptionQuery(id), staleTime: 0, gcTime: 0 })
  // Waits for a fresh copy, because another page may have fetched the code a while ago. A form that starts with old
  // values would overwrite the current ones.
  if (query.isPending || !query.isFetchedAfterMount) return <FieldsSkeleton className="h-64" />
  if (query.isError) {
    return (
      <ErrorState title={t('redemption.notFound')} text={query.error.message} onRetry={() => void query.refetch()}>
        <Link {...wayBack('/redemption')} className={buttonClass()}>
          {t('do.back')}
        </Link>
      </ErrorState>
    )
  }
  return <EditForm code={query.data} />
}

function EditForm({ code }: { code: Redemption }) {
  const t = useText()
  useCrumb(code.name)
  const navigate = useNavigate()
  const classic = useClassicServer()
  const presets = usePresets()
  const form = useAppForm<RedemptionValues>({
    schema: redemptionSchema,
    values: { name: code.name, quota: code.quota, expired_time: code.expired_time ?? 0 },
  })
  const save = async (values: RedemptionValues) => {
    await updateRedemption(code.id, values)
    await navigate(wayBack('/redemption'))
    toast.success(t('redemption.updated.done'))
  }
  return (
    <div className="rounded-lg border border-line bg-surface px-4 pt-4">
      <Form form={form} label={t('redemption.editTitle')} onSubmit={save}>
        <TextField
          control={form.control}
          name="name"
          label={t('redemption.form.name')}
          hint={t('redemption.form.name.hint')}
          autoComplete="off"
        />
        <QuotaField control={form.control} name="quota" label={t('redemption.form.quota')} min={1} />
        {!classic && (
          <DateTimeField
            control={form.control}
            name="expired_time"
            label={t('redemption.form.expiry')}
            presets={presets}
          />
        )}
        <FormFooter
          submit={t('do.submit')}
          busy={form.formState.isSubmitting}
          onCancel={() => void navigate(wayBack('/redemption'))}
        />
      </Form>
    </div>
  )
}

function NewCodesForm() {
  const t = useText()
  const navigate = useNavigate()
  const [made, setMade] = useState<Made>()
  const classic = useClassicServer()
  const presets = usePresets()
  const form = useAppForm<NewCodes>({ schema: newCodesSchema, values: newCodes })
  const save = async (values: NewCodes) => {
    const name = values.name.trim()
    const codes = await createCodes({ ...values, name })
    // The file name as browsers would save it, with folder separators replaced.
    const file = `${name.replaceAll(/[\\/:*?"<>|]/g, '_')}.txt`
    downloadFile(file, codes.map((code) => `${code}\n`).join(''))
    form.reset(newCodes)
    setMade({ file, codes, name, quota: values.quota })
    toast.success(t('redemption.created.done'))
  }
  if (made) return <MadeCodes made={made} onMore={() => setMade(undefined)} />
  return (
    <div className="rounded-lg border border-line bg-surface px-4 pt-4">
      <Form form={form} label={t('redemption.addTitle')} onSubmit={save}>
        <TextField
          control={form.control}
          name="name"
          label={t('redemption.form.name')}
          hint={t('redemption.form.name.newHint')}
          autoComplete="off"
          autoFocus
        />
        <QuotaField control={form.control} name="quota" label={t('redemption.form.quota')} min={1} />
        <NumberField
          control={form.control}
          name="count"
          label={t('redemption.form.count')}
          hint={t('redemption.form.count.hint', { max: maxRedemptions })}
          min={1}
          max={maxRedemptions}
          step={1}
        />
        {!classic && (
          <>
            <DateTimeField
              control={form.control}
              name="expired_time"
              label={t('redemption.form.expiry')}
              hint={t('redemption.form.expiry.hint')}
              presets={presets}
            />
            <TextField
              control={form.control}
              name="prefix"
              label={t('redemption.form.prefix')}
              hint={t('redemption.form.prefix.hint', { max: maxCodePrefix })}
              optional
              autoComplete="off"
              spellCheck={false}
            />
          </>
        )}
        <FormFooter
          submit={t('do.submit')}
          busy={form.formState.isSubmitting}
          onCancel={() => void navigate(wayBack('/redemption'))}
        />
      </Form>
    </div>
  )
}

const daySeconds = 86_400

function usePresets(): TimePreset[] {
  const t = useText()
  return [
    { id: 'never', label: t('redemption.never'), value: 0 },
    ...[30, 90, 365].map((days) => ({
      id: String(days),
      label: t('redemption.form.expiry.days', { count: days }),
      fromNowSeconds: days * daySeconds,
    })),
  ]
}
