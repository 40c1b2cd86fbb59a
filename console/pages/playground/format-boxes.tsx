import { Wrench } from 'lucide-react'
import { Suspense, useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Select } from '../../components/ui/select.tsx'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import { Labelled } from './labelled.tsx'
import type { Extras } from './request.ts'
import type { FormatDraft } from './tools.ts'

const ToolsDialog = lazy(() => import('./tools-dialog.tsx').then((it) => ({ default: it.ToolsDialog })))
const SchemaDialog = lazy(() => import('./schema-dialog.tsx').then((it) => ({ default: it.SchemaDialog })))

const kinds: readonly FormatDraft['kind'][] = ['text', 'json_object', 'json_schema']

interface FormatBoxesProps {
  extras: Extras
  setExtras(extras: Extras): void
}

/** The response format and the tools, which are the same for all models. */
export function FormatBoxes({ extras, setExtras }: FormatBoxesProps) {
  const t = useText()
  const id = useId()
  const [open, setOpen] = useState<'tools' | 'schema'>()
  const { tools, format } = extras
  const choose = (kind: FormatDraft['kind'] | undefined) => {
    if (!kind) return
    setExtras({ ...extras, format: { ...format, kind } })
    if (kind === 'json_schema') setOpen('schema')
  }
  return (
    <>
      <Labelled id={`${id}-format`} label={t('playground.format')}>
        <Select
          id={`${id}-format`}
          value={format.kind}
          aria-describedby={format.kind === 'json_object' ? `${id}-format-hint` : undefined}
          onChange={(event) => choose(kinds.find((kind) => kind === event.target.value))}
        >
          {kinds.map((kind) => (
            <option key={kind} value={kind}>
              {t(`playground.format.${kind}`)}
            </option>
          ))}
        </Select>
      </Labelled>
      {format.kind === 'json_object' && (
        <p id={`${id}-format-hint`} className="text-sm text-muted">
          {t('playground.format.hint')}
        </p>
      )}
      {format.kind === 'json_schema' && (
        <Button size="small" className="self-start" onClick={() => setOpen('schema')}>
          {t('playground.schema.edit')}
        </Button>
      )}
      <Button size="small" icon={<Wrench />} className="self-start" onClick={() => setOpen('tools')}>
        {t('playground.tools.button', { count: tools.length })}
      </Button>
      <Suspense fallback={null}>
        {open === 'tools' && (
          <ToolsDialog
            tools={tools}
            onSave={(next) => setExtras({ ...extras, tools: next })}
            onClose={() => setOpen(undefined)}
          />
        )}
        {open === 'schema' && (
          <SchemaDialog
            format={format}
            onSave={(next) => setExtras({ ...extras, format: next })}
            onClose={() => setOpen(undefined)}
          />
        )}
      </Suspense>
    </>
  )
}
