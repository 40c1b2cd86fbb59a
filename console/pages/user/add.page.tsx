import { useNavigate } from '@tanstack/react-router'
import { createUserBody } from '../../../contract/api/user.ts'
import { Form, FormFooter } from '../../components/form/form.tsx'
import { PasswordField, TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Page } from '../../components/ui/page.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { wayBack } from '../../lib/way-back.ts'
import { createUser } from './queries.ts'

interface Values {
  username: string
  display_name: string
  password: string
}

const blank: Values = { username: '', display_name: '', password: '' }

/** `/user/add`: creates an account. Afterwards, the form stays open and empty for the next account. */
export function UserAddPage() {
  const t = useText()
  const navigate = useNavigate()
  const form = useAppForm<Values>({ schema: createUserBody, values: blank })
  const { control, formState } = form
  const save = async (values: Values) => {
    await createUser(values)
    form.reset(blank)
    form.setFocus('username')
    toast.success(t('user.created.done'))
  }
  return (
    <Page title={t('user.addTitle')} width="narrow">
      <div className="rounded-lg border border-line bg-surface px-4 pt-4">
        <Form form={form} label={t('user.addTitle')} onSubmit={save}>
          <TextField
            control={control}
            name="username"
            label={t('user.username')}
            placeholder={t('user.form.username.placeholder')}
            autoComplete="off"
            autoFocus
            spellCheck={false}
          />
          <TextField control={control} name="display_name" label={t('user.displayName')} optional autoComplete="off" />
          <PasswordField
            control={control}
            name="password"
            label={t('user.form.password')}
            placeholder={t('user.form.password.placeholder')}
            autoComplete="new-password"
          />
          <FormFooter
            submit={t('do.submit')}
            busy={formState.isSubmitting}
            onCancel={() => void navigate(wayBack('/user'))}
          />
        </Form>
      </div>
    </Page>
  )
}
