import { useId, useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { listOf } from './channel-parts.tsx'
import { changeMany } from './queries.ts'

/** Changes priority, weight, models or groups of several channels; a field that is left empty changes nothing. */
export function BulkEditDialog({ channels, onClose }: { channels: readonly Channel[]; onClose(): void }) {
  const t = useText()
  const formId = useId()
  const [values, setValues] = useState({ priority: '', weight: '', models: '', group: '' })
  const [busy, setBusy] = useState(false)
  const save = async () => {
    const { priority, weight } = values
    const changes = {
      ...(priority !== '' && { priority: Number(priority) }),
      ...(weight !== '' && { weight: Number(weight) }),
      ...(values.models.trim() !== '' && { models: listOf(values.models).join(',') }),
      ...(values.group.trim() !== '' && { group: listOf(values.group).join(',') }),
    }
    if (Object.keys(changes).length === 0) return void toast.info(t('channel.bulkEdit.nothing'))
    setBusy(true)
    try {
      await changeMany({ ids: channels.map(({ id }) => id), action: 'edit', ...changes })
      toast.success(t('done.ok'))
      onClose()
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const fields = [
    ['priority', t('channel.priority'), 'number'],
    ['weight', t('channel.weight'), 'number'],
    ['models', t('channel.bulkEdit.models'), 'text'],
    ['group', t('channel.bulkEdit.groups'), 'text'],
  ] as const
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('channel.bulkEdit.title', { count: channels.length })}
      text={t('channel.bulkEdit.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button type="submit" form={formId} look="primary" busy={busy}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {fields.map(([name, label, type]) => (
          <label key={name} className="flex flex-col gap-1 text-sm font-medium">
            {label}
            <Input
              type={type}
              value={values[name]}
              placeholder={t('channel.bulkEdit.keep')}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          </label>
        ))}
      </form>
    </Dialog>
  )
}
