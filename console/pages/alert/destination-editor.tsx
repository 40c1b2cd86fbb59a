import type { Control } from 'react-hook-form'
import * as z from 'zod/mini'
import {
  type DestinationKindName,
  destinationKind,
  destinationKindNames,
} from '../../../contract/alert-destinations.ts'
import type { AlertDestination } from '../../../contract/api/alert.ts'
import { isMailAddress, text } from '../../../contract/api/fields.ts'
import { SelectField } from '../../components/form/choice-fields.tsx'
import { Form } from '../../components/form/form.tsx'
import { PasswordField, TextField } from '../../components/form/text-field.tsx'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Drawer } from '../../components/ui/drawer.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { EditorFooter } from './editor-footer.tsx'
import { type AlertScope, createDestination, updateDestination } from './queries.ts'

const fields = z.object({
  kind: z.enum(destinationKindNames),
  name: text(60).check(z.trim(), z.minLength(1)),
  url: text(1000).check(z.trim()),
  token: text(300).check(z.trim()),
  secret: text(300).check(z.trim()),
  to: text(254).check(z.trim()),
})

type Values = z.output<typeof fields>

/** The validation rules. A new destination must have the fields that its service requires. */
function schemaFor(scope: AlertScope, isNew: boolean) {
  const isUrl = (value: string) => value === '' || /^https?:\/\/\S+$/.test(value)
  const filled = (value: string, needed: boolean) => !isNew || !needed || value !== ''
  const required = { error: 'form.required' }
  return fields.check(
    z.refine(({ url }) => isUrl(url), { path: ['url'], error: 'form.invalid' }),
    z.refine(({ kind, url }) => filled(url, destinationKind(kind).url === 'required'), { path: ['url'], ...required }),
    z.refine(({ kind, token }) => filled(token, destinationKind(kind).token === 'required'), {
      path: ['token'],
      ...required,
    }),
    z.refine(({ kind, to }) => filled(to, needsTo(kind, scope)), { path: ['to'], ...required }),
    z.refine(({ kind, to }) => kind !== 'mail' || to === '' || isMailAddress(to), { path: ['to'], error: 'form.mail' }),
  )
}

/** Whether a recipient must be entered. Users get emails only at the address of their own account. */
const needsTo = (kind: DestinationKindName, scope: AlertScope) =>
  destinationKind(kind).to && !(kind === 'mail' && scope === 'own')

interface DestinationEditorProps {
  scope: AlertScope
  destination: AlertDestination | undefined
  onClose(): void
  /** Receives the secret that was generated for a new webhook. */
  onSecret(secret: string): void
}

/** The drawer in which a destination is created or changed. The stored address is not shown. */
export function DestinationEditor({ scope, destination, onClose, onSecret }: DestinationEditorProps) {
  const t = useText()
  const isNew = destination === undefined
  const start: Values = {
    kind: destination?.kind ?? 'mail',
    name: destination?.name ?? '',
    url: '',
    token: '',
    secret: '',
    to: '',
  }
  const form = useAppForm<Values>({ schema: schemaFor(scope, isNew), values: start })
  const { control } = form
  const kind = form.watch('kind')
  const save = async (values: Values) => {
    const { name, url, token, secret, to } = sent(values, scope)
    if (destination) await updateDestination(scope, { id: destination.id, name, url, token, secret, to })
    else onSecret(await createDestination(scope, { kind: values.kind, name, url, token, secret, to }))
    onClose()
    toast.success(t('alert.dest.saved'))
  }
  const title = t(isNew ? 'alert.dest.new' : 'alert.dest.edit')
  return (
    <Drawer open onClose={onClose} title={title}>
      <Form form={form} label={title} onSubmit={save}>
        <SelectField
          control={control}
          name="kind"
          label={t('alert.dest.service')}
          disabled={!isNew}
          options={destinationKindNames.map((value) => ({ value, label: t(`alert.kindOf.${value}`) }))}
        />
        <TextField control={control} name="name" label={t('alert.form.name')} autoComplete="off" />
        <AddressFields {...{ control, kind, scope, isNew }} />
        {scope === 'own' && kind !== 'mail' && <Banner kind="info">{t('alert.dest.public')}</Banner>}
        {scope === 'own' && kind === 'mail' && <Banner kind="info">{t('alert.dest.ownMail')}</Banner>}
        <EditorFooter busy={form.formState.isSubmitting} onCancel={onClose} />
      </Form>
    </Drawer>
  )
}

/**
 * The values to send. Fields that the service does not have are emptied, because they may still contain text that was
 * typed for another service.
 */
function sent({ kind, name, ...values }: Values, scope: AlertScope): Omit<Values, 'kind'> {
  const { url, token, secret } = destinationKind(kind)
  return {
    name,
    url: url === 'none' ? '' : values.url,
    token: token === 'none' ? '' : values.token,
    secret: secret ? values.secret : '',
    to: needsTo(kind, scope) ? values.to : '',
  }
}

interface AddressProps {
  control: Control<Values>
  kind: DestinationKindName
  scope: AlertScope
  isNew: boolean
}

function AddressFields({ control, kind, scope, isNew }: AddressProps) {
  const t = useText()
  const { url, token, secret, server = '' } = destinationKind(kind)
  const keep = isNew ? undefined : t('alert.dest.keep')
  const plain = { control, autoComplete: 'off', spellCheck: false }
  const secretHint = kind === 'webhook' ? t('alert.dest.secret.webhook') : t('alert.dest.secret.robot')
  return (
    <>
      {url === 'required' && (
        <TextField
          {...plain}
          name="url"
          label={t('alert.dest.url')}
          hint={keep}
          placeholder="https://"
          inputMode="url"
        />
      )}
      {token !== 'none' && (
        <PasswordField
          control={control}
          name="token"
          label={t(`alert.dest.token.${kind as 'telegram' | 'bark' | 'ntfy'}`)}
          hint={keep}
          optional={token === 'optional'}
          autoComplete="off"
        />
      )}
      {needsTo(kind, scope) && (
        <TextField
          {...plain}
          name="to"
          label={t(`alert.dest.to.${kind as 'mail' | 'telegram' | 'ntfy'}`)}
          hint={keep ?? (kind === 'telegram' ? t('alert.dest.to.telegram.hint') : undefined)}
        />
      )}
      {url === 'server' && (
        <TextField
          {...plain}
          name="url"
          label={t('alert.dest.server')}
          hint={
            isNew ? t('alert.dest.server.hint', { server }) : `${t('alert.dest.keep')} ${t('alert.dest.token.again')}`
          }
          placeholder={server}
          optional
          inputMode="url"
        />
      )}
      {secret && (
        <PasswordField
          control={control}
          name="secret"
          label={t('alert.dest.secret')}
          hint={keep ?? secretHint}
          optional
          autoComplete="off"
        />
      )}
    </>
  )
}
