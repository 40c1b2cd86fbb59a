import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import { PasswordField, TextAreaField, TextField } from '../../components/form/text-field.tsx'
import { useText } from '../../lib/text.ts'
import { FormSection } from './form-section.tsx'
import type { ChannelValues } from './form-values.ts'

const headersExample = 'HTTP-Referer: https://example.com\nX-Title: Team'
const parametersExample =
  '[\n  {"op": "cap", "path": "max_tokens", "value": 8000},\n  {"op": "drop", "path": "user"}\n]'

/** Labels, and what the channel adds to or changes in its calls: headers, parameters, statuses, a proxy. */
export function CarrySection({ form, channel }: { form: UseFormReturn<ChannelValues>; channel: Channel | undefined }) {
  const t = useText()
  const { control } = form
  const login = t(channel?.proxy_has_login ? 'carry.login.kept' : 'carry.login.hint')
  return (
    <>
      <FormSection title={t('carry.labels')}>
        <TextField control={control} name="tags" label={t('carry.tags')} hint={t('carry.tags.hint')} optional />
        <TextAreaField
          control={control}
          name="remark"
          label={t('carry.remark')}
          hint={t('carry.remark.hint')}
          rows={2}
          optional
        />
        <TextField
          control={control}
          name="test_model"
          label={t('carry.testModel')}
          hint={t('carry.testModel.hint')}
          optional
          spellCheck={false}
        />
      </FormSection>
      <FormSection title={t('carry.requests')}>
        <div className="grid gap-5 sm:grid-cols-2">
          <TextField
            control={control}
            name="organization"
            label={t('carry.organization')}
            placeholder="org-…"
            optional
            spellCheck={false}
          />
          <TextField
            control={control}
            name="project"
            label={t('carry.project')}
            placeholder="proj_…"
            optional
            spellCheck={false}
          />
        </div>
        <TextAreaField
          control={control}
          name="headers"
          label={t('carry.headers')}
          hint={t('carry.headers.hint')}
          placeholder={headersExample}
          rows={3}
          mono
          optional
        />
        <TextAreaField
          control={control}
          name="parameters"
          label={t('carry.parameters')}
          hint={t('carry.parameters.hint')}
          placeholder={parametersExample}
          rows={5}
          mono
          optional
        />
        <TextAreaField
          control={control}
          name="status_map"
          label={t('carry.statuses')}
          hint={t('carry.statuses.hint')}
          placeholder="400: 503"
          rows={2}
          mono
          optional
        />
      </FormSection>
      <FormSection title={t('carry.proxy.title')}>
        <TextField
          control={control}
          name="proxy"
          label={t('carry.proxy')}
          hint={t('carry.proxy.hint')}
          placeholder="http://proxy.example.com:8080"
          optional
          spellCheck={false}
        />
        <PasswordField
          control={control}
          name="proxy_login"
          label={t('carry.login')}
          hint={login}
          autoComplete="off"
          optional
        />
      </FormSection>
    </>
  )
}
