import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { BoxError, Labelled } from './labelled.tsx'
import { SchemaBox } from './schema-box.tsx'
import { type FormatDraft, isFormatValid, isFunctionName } from './tools.ts'

interface SchemaDialogProps {
  format: FormatDraft
  onSave(format: FormatDraft): void
  onClose(): void
}

/** Edits the schema that the response must follow. */
export function SchemaDialog({ format, onSave, onClose }: SchemaDialogProps) {
  const t = useText()
  const id = useId()
  const [draft, setDraft] = useState(format)
  const isNamed = isFunctionName(draft.name)
  return (
    <Dialog
      open
      width="large"
      onClose={onClose}
      title={t('playground.schema.title')}
      text={t('playground.schema.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button
            look="primary"
            disabled={!isFormatValid(draft)}
            onClick={() => {
              onSave(draft)
              onClose()
            }}
          >
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Labelled id={id} label={t('playground.tool.name')}>
          <Input
            id={id}
            autoComplete="off"
            value={draft.name}
            aria-invalid={!isNamed}
            aria-describedby={isNamed ? undefined : `${id}-error`}
            onChange={(event) => setDraft({ ...draft, name: event.target.value })}
          />
          {!isNamed && <BoxError id={`${id}-error`}>{t('playground.tool.name.invalid')}</BoxError>}
        </Labelled>
        <SchemaBox
          label={t('playground.schema.label')}
          rows={12}
          value={draft.schema}
          onChange={(schema) => setDraft({ ...draft, schema })}
        />
      </div>
    </Dialog>
  )
}
