import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { type ImportPart, importParts, mostUploadBytes } from '../../../contract/api/import.ts'
import { Button } from '../../components/ui/button.tsx'
import { Checkbox } from '../../components/ui/checkbox.tsx'
import { Input, inputClass } from '../../components/ui/input.tsx'
import { Card } from '../../components/ui/page.tsx'
import { PasswordInput } from '../../components/ui/password-input.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'
import { startImport, uploadFile } from './queries.ts'

type Kind = 'address' | 'file'

/** The form for the source of an import. The first run is always a dry run. */
export function SourceForm({ onStarted }: { onStarted(): void }) {
  const t = useText()
  const [kind, setKind] = useState<Kind>('address')
  const [values, setValues] = useState({ address: '', logs_address: '', salt_key: '', since: '' })
  const [file, setFile] = useState<File>()
  const [merge, setMerge] = useState(false)
  const [only, setOnly] = useState<readonly ImportPart[]>(importParts)
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  const set = (name: keyof typeof values) => (value: string) => setValues({ ...values, [name]: value })
  const isFile = kind === 'file'

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isFile && !file) return setFault(t('import.file.missing'))
    if (file && file.size > mostUploadBytes) return setFault(t('import.file.large', { mib: limitText() }))
    if (!isFile && values.address.trim() === '') return setFault(t('import.address.missing'))
    setFault('')
    setBusy(true)
    try {
      const upload = file && (await uploadFile(file))
      const since = values.since === '' ? 0 : Math.floor(Date.parse(`${values.since}T00:00:00Z`) / 1000)
      await startImport({
        ...(!isFile && { address: values.address, logs_address: values.logs_address, salt_key: values.salt_key }),
        ...(upload && { upload: upload.id, upload_name: upload.name }),
        ...{ dry_run: true, merge, since, only: only.length === importParts.length ? [] : [...only] },
      })
      onStarted()
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  return (
    <Card title={t('import.source')}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <Segmented<Kind>
          label={t('import.source')}
          value={kind}
          onChange={setKind}
          options={(['address', 'file'] as const).map((value) => ({ value, label: t(`import.kind.${value}`) }))}
        />
        {!isFile && <Addresses values={values} set={set} fault={fault} />}
        <Labelled
          label={t(isFile ? 'import.file' : 'import.config')}
          hint={t(isFile ? 'import.file.hint' : 'import.config.hint', { mib: limitText() })}
        >
          {(ids) => (
            <input
              {...ids}
              type="file"
              accept=".db,.sqlite,.sqlite3,.yaml,.yml"
              className={`${inputClass} h-auto! py-1`}
              onChange={(event) => setFile(event.target.files?.[0])}
            />
          )}
        </Labelled>
        <Labelled label={t('import.since')} hint={t('import.since.hint')}>
          {(ids) => (
            <Input {...ids} type="date" value={values.since} onChange={(event) => set('since')(event.target.value)} />
          )}
        </Labelled>
        <Parts only={only} onChange={setOnly} />
        <label className="flex items-start gap-2 text-sm">
          <Checkbox className="mt-0.5" checked={merge} onChange={(event) => setMerge(event.target.checked)} />
          <span>
            {t('import.merge')} <span className="block text-muted">{t('import.merge.hint')}</span>
          </span>
        </label>
        {fault !== '' && (
          <p role="alert" className="text-sm text-bad">
            {fault}
          </p>
        )}
        <div>
          <Button look="primary" type="submit" busy={busy} disabled={only.length === 0}>
            {t('import.check')}
          </Button>
        </div>
        <p className="text-sm text-muted">{t('import.check.note')}</p>
      </form>
    </Card>
  )
}

const limitText = () => formatCount(mostUploadBytes / 1024 / 1024)

interface AddressValues {
  address: string
  logs_address: string
  salt_key: string
}

/** The addresses contain passwords, so they are entered like passwords. */
function Addresses(props: {
  values: AddressValues
  set(name: keyof AddressValues): (value: string) => void
  fault: string
}) {
  const { values, set } = props
  const t = useText()
  return (['address', 'logs_address', 'salt_key'] as const).map((name) => (
    <Labelled key={name} label={t(`import.${name}`)} hint={t(`import.${name}.hint`)}>
      {(ids) => (
        <PasswordInput
          {...ids}
          name={name}
          autoComplete="off"
          spellCheck={false}
          value={values[name]}
          onChange={(event) => set(name)(event.target.value)}
        />
      )}
    </Labelled>
  ))
}

/** Which parts are imported. */
function Parts({ only, onChange }: { only: readonly ImportPart[]; onChange(next: readonly ImportPart[]): void }) {
  const t = useText()
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{t('import.parts')}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-2">
        {importParts.map((part) => (
          <label key={part} className="flex items-center gap-2 text-sm">
            <Checkbox
              checked={only.includes(part)}
              onChange={({ target }) =>
                onChange(importParts.filter((each) => (each === part ? target.checked : only.includes(each))))
              }
            />
            {t(`import.part.${part}`)}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** A control with its label and hint. */
function Labelled(props: {
  label: string
  hint: string
  children(ids: { id: string; 'aria-describedby': string }): ReactNode
}) {
  const id = useId()
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {props.label}
      </label>
      {props.children({ id, 'aria-describedby': `${id}-hint` })}
      <p id={`${id}-hint`} className="text-sm text-muted">
        {props.hint}
      </p>
    </div>
  )
}
