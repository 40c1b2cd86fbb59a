import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import type { User } from '../../../contract/api/user.ts'
import { Form, FormFooter } from '../../components/form/form.tsx'
import { LimitFields } from '../../components/form/limit-fields.tsx'
import { QuotaField } from '../../components/form/number-field.tsx'
import { PasswordField, TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { ErrorState, FieldsSkeleton } from '../../components/ui/states.tsx'
import { useCrumb } from '../../lib/crumb.ts'
import { selfQuery } from '../../lib/self.ts'
import { isClassicServer } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { wayBack } from '../../lib/way-back.ts'
import { Bindings } from './bindings.tsx'
import { changesOf, classicBody, type UserValues, userFormSchema, userValues } from './form-values.ts'
import { GroupField } from './group-field.tsx'
import { updateSelf, updateUser, userQuery } from './queries.ts'

/** `/user/edit/{id}` for administrators, and `/user/edit` for the user's own profile. */
export function UserFormPage() {
  const t = useText()
  const { id } = useParams({ strict: false })
  return (
    <Page title={t(id === undefined ? 'user.selfTitle' : 'user.editTitle')} width="narrow">
      <LoadedForm id={id} />
    </Page>
  )
}

/** The page to show when the form is closed: the list of accounts, or the user's own settings. */
const leaveTo = (admin: boolean) => (admin ? wayBack('/user') : ({ to: '/setting' } as const))

function LoadedForm({ id }: { id: string | undefined }) {
  const t = useText()
  const other = useQuery({ ...userQuery(id ?? ''), enabled: id !== undefined, staleTime: 0, gcTime: 0 })
  const own = useQuery({ ...selfQuery, enabled: id === undefined, staleTime: 0 })
  const query = id === undefined ? own : other
  // Waits for a fresh copy, because another page may have fetched the user a while ago. A form that starts with an old
  // balance would overwrite the current one.
  if (query.isPending || !query.isFetchedAfterMount) return <FieldsSkeleton className="h-[32rem]" />
  if (query.isError) {
    return (
      <ErrorState title={t('user.notFound')} text={query.error.message} onRetry={() => void query.refetch()}>
        <Link {...leaveTo(id !== undefined)} className={buttonClass()}>
          {t('do.back')}
        </Link>
      </ErrorState>
    )
  }
  return <UserForm key={query.data.id} user={query.data} admin={id !== undefined} />
}

function UserForm({ user, admin }: { user: User; admin: boolean }) {
  const t = useText()
  useCrumb(user.username, admin ? user.id : undefined)
  const navigate = useNavigate()
  const form = useAppForm<UserValues>({ schema: userFormSchema(admin), values: userValues(user) })
  const { control, formState } = form
  const save = async (values: UserValues) => {
    const { username, display_name, password } = values
    if (admin)
      await updateUser({
        id: user.id,
        ...(isClassicServer() ? classicBody(values) : changesOf(values, formState.defaultValues as UserValues)),
      })
    else await updateSelf({ username, display_name, password })
    form.reset({ ...values, password: '' })
    toast.success(t('user.updated.done'))
  }
  return (
    <div className="rounded-lg border border-line bg-surface px-4 pt-4">
      <Form form={form} label={t(admin ? 'user.editTitle' : 'user.selfTitle')} onSubmit={save}>
        <TextField
          control={control}
          name="username"
          label={t('user.username')}
          placeholder={t('user.form.username.placeholder')}
          autoComplete={admin ? 'off' : 'username'}
          spellCheck={false}
        />
        <PasswordField
          control={control}
          name="password"
          label={t('user.form.password')}
          placeholder={t('user.form.password.placeholder')}
          hint={t('user.form.password.keep')}
          autoComplete="new-password"
        />
        <TextField control={control} name="display_name" label={t('user.displayName')} autoComplete="off" />
        {admin && (
          <>
            <GroupField control={control} />
            <QuotaField
              control={control}
              name="quota"
              label={t('user.quota')}
              hint={t('user.form.quota.hint')}
              presets={false}
            />
            <LimitFields control={control} spent={user} />
          </>
        )}
        <Bindings user={user} />
        <FormFooter
          submit={t('do.submit')}
          busy={formState.isSubmitting}
          onCancel={() => void navigate(leaveTo(admin))}
        />
      </Form>
    </div>
  )
}
