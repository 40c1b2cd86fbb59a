import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { Token } from '../../../contract/api/token.ts'
import { SwitchField } from '../../components/form/choice-fields.tsx'
import { DateTimeField } from '../../components/form/date-time-field.tsx'
import { Form, FormFooter } from '../../components/form/form.tsx'
import { LimitFields } from '../../components/form/limit-fields.tsx'
import { QuotaField } from '../../components/form/number-field.tsx'
import { TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useCrumb } from '../../lib/crumb.ts'
import { useFormatQuota } from '../../lib/format.ts'
import { selfQuery } from '../../lib/self.ts'
import { useClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { wayBack, wayToNew } from '../../lib/way-back.ts'
import { type TokenValues, tokenSchema, tokenValues } from './form-values.ts'
import { GroupField } from './group-field.tsx'
import { ModelsField } from './models-field.tsx'
import { ProjectField } from './project-field.tsx'
import { createToken, tokenQuery, updateToken } from './queries.ts'

/** `/token/add` and `/token/edit/{id}`. */
export function TokenFormPage() {
  const t = useText()
  const { id } = useParams({ strict: false })
  return (
    <Page title={t(id === undefined ? 'token.addTitle' : 'token.editTitle')} width="narrow">
      {id === undefined ? <TokenForm /> : <EditToken id={id} />}
    </Page>
  )
}

function EditToken({ id }: { id: string }) {
  const t = useText()
  const query = useQuery({ ...tokenQuery(id), staleTime: 0, gcTime: 0 })
  // Waits for a fresh copy, because another page may have fetched the token a while ago. A form that starts with an old
  // quota would overwrite the current one.
  if (query.isPending || !query.isFetchedAfterMount) return <FieldsSkeleton className="h-[28rem]" />
  if (query.isError) {
    return (
      <ErrorState title={t('token.notFound')} text={query.error.message} onRetry={() => void query.refetch()}>
        <Link {...wayBack('/token')} className={buttonClass()}>
          {t('do.back')}
        </Link>
      </ErrorState>
    )
  }
  return <TokenForm token={query.data} />
}

function TokenForm({ token }: { token?: Token }) {
  const t = useText()
  useCrumb(token?.name ?? '', token?.id)
  const classic = useClassicServer()
  const navigate = useNavigate()
  const form = useAppForm<TokenValues>({ schema: tokenSchema(token === undefined), values: tokenValues(token) })
  const { control } = form
  const [quota, unlimited] = form.watch(['remain_quota', 'unlimited_quota'])

  const save = async (values: TokenValues) => {
    if (token) {
      await updateToken(token, values)
      await navigate(wayBack('/token'))
      toast.success(t('token.updated.done'))
      return
    }
    const made = await createToken(values)
    await navigate({ to: '/token', search: { ...wayToNew('/token').search, start: made && String(made.id) } })
    toast.success(t('token.created.done'))
  }
  // This is the only field error that is also shown as a toast.
  const badExpiry = t('token.form.expiry.invalid')
  const say = (problems: string[]) => problems.includes(badExpiry) && toast.error(badExpiry)
  return (
    <div className="rounded-lg border border-line bg-surface px-4 pt-4">
      <Form form={form} label={t(token ? 'token.editTitle' : 'token.addTitle')} onSubmit={save} onInvalid={say}>
        <TextField
          control={control}
          name="name"
          label={t('token.form.name')}
          hint={t('token.form.name.hint')}
          autoComplete="off"
          autoFocus={!token}
        />
        {!classic && <ProjectField control={control} />}
        <DateTimeField control={control} name="expired_time" label={t('token.form.expiry')} presets={usePresets()} />
        <SwitchField
          control={control}
          name="unlimited_quota"
          label={t('token.form.unlimited')}
          hint={t('token.form.unlimited.hint')}
        />
        <QuotaField control={control} name="remain_quota" label={t('token.form.quota')} disabled={unlimited} />
        <Balance quota={unlimited ? undefined : quota} />
        {!classic && (
          <fieldset className="flex min-w-0 flex-col gap-5 border-t border-line pt-4">
            <legend className="float-left w-full text-base font-medium">{t('token.form.limits')}</legend>
            <GroupField control={control} />
            <ModelsField control={control} />
            <TextField
              control={control}
              name="subnet"
              label={t('token.form.subnet')}
              hint={t('token.form.subnet.hint')}
              optional
              spellCheck={false}
            />
          </fieldset>
        )}
        <LimitFields control={control} spent={token} />
        <FormFooter
          submit={t('do.submit')}
          busy={form.formState.isSubmitting}
          onCancel={() => void navigate(wayBack('/token'))}
        />
      </Form>
    </div>
  )
}

function usePresets() {
  const t = useText()
  return [
    { id: 'never', label: t('token.preset.never'), value: -1 },
    { id: 'month', label: t('token.preset.month'), fromNowSeconds: 30 * 86_400 },
    { id: 'day', label: t('token.preset.day'), fromNowSeconds: 86_400 },
    { id: 'hour', label: t('token.preset.hour'), fromNowSeconds: 3600 },
    { id: 'minute', label: t('token.preset.minute'), fromNowSeconds: 60 },
  ]
}

/** The account's balance, with a warning if the token's quota exceeds it. */
function Balance({ quota }: { quota: number | undefined }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  const self = useQuery(selfQuery)
  const balance = self.data ? formatQuota(self.data.quota) : '…'
  const over = self.data !== undefined && quota !== undefined && quota > self.data.quota
  return over ? (
    <Banner kind="warn" live>
      {t('token.form.over', { balance })}
    </Banner>
  ) : (
    <Banner kind="info">{t('token.form.note', { balance })}</Banner>
  )
}
