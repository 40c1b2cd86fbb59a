import { Plus, Trash2 } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { BoxError, Labelled } from './labelled.tsx'
import { SchemaBox } from './schema-box.tsx'
import { areToolsValid, emptyTool, exampleTool, isFunctionName, mostTools, type ToolDraft } from './tools.ts'

interface ToolsDialogProps {
  tools: readonly ToolDraft[]
  onSave(tools: readonly ToolDraft[]): void
  onClose(): void
}

/** Edits the functions that the models may call. */
export function ToolsDialog({ tools, onSave, onClose }: ToolsDialogProps) {
  const t = useText()
  const [drafts, setDrafts] = useState(tools)
  const hasExample = drafts.some(({ name }) => name === exampleTool.name)
  return (
    <Dialog
      open
      width="large"
      onClose={onClose}
      title={t('playground.tools')}
      text={t('playground.tools.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button
            look="primary"
            disabled={!areToolsValid(drafts)}
            onClick={() => {
              onSave(drafts)
              onClose()
            }}
          >
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {drafts.map((draft, place) => (
          <ToolBoxes
            // biome-ignore lint/suspicious/noArrayIndexKey: functions have only positions while names are typed
            key={place}
            number={place + 1}
            tool={draft}
            isTaken={drafts.some(({ name }, index) => index < place && name === draft.name)}
            onChange={(next) => setDrafts(drafts.map((each, index) => (index === place ? next : each)))}
            onRemove={() => setDrafts(drafts.filter((_, index) => index !== place))}
          />
        ))}
        {drafts.length < mostTools && (
          <div className="flex flex-wrap gap-2">
            <Button size="small" icon={<Plus />} onClick={() => setDrafts([...drafts, emptyTool])}>
              {t('playground.tools.add')}
            </Button>
            {!hasExample && (
              <Button size="small" onClick={() => setDrafts([...drafts, exampleTool])}>
                {t('playground.tools.example')}
              </Button>
            )}
          </div>
        )}
      </div>
    </Dialog>
  )
}

interface ToolBoxesProps {
  number: number
  tool: ToolDraft
  /** Whether an earlier function has the same name. */
  isTaken: boolean
  onChange(tool: ToolDraft): void
  onRemove(): void
}

function ToolBoxes({ number, tool, isTaken, onChange, onRemove }: ToolBoxesProps) {
  const t = useText()
  const id = useId()
  const problem = !isFunctionName(tool.name)
    ? t('playground.tool.name.invalid')
    : isTaken
      ? t('playground.tool.name.taken')
      : undefined
  const title = tool.name || t('playground.tool.number', { number })
  return (
    <section aria-label={title} className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <div className="flex items-center gap-2">
        <h3 className="min-w-0 flex-1 truncate font-mono text-sm font-medium">{title}</h3>
        <IconButton label={t('playground.tools.remove', { name: title })} icon={<Trash2 />} onClick={onRemove} />
      </div>
      <Labelled id={`${id}-name`} label={t('playground.tool.name')}>
        <Input
          id={`${id}-name`}
          autoComplete="off"
          spellCheck={false}
          value={tool.name}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-error`}
          onChange={(event) => onChange({ ...tool, name: event.target.value })}
        />
        {problem !== undefined && <BoxError id={`${id}-error`}>{problem}</BoxError>}
      </Labelled>
      <Labelled id={`${id}-text`} label={t('playground.tool.description')}>
        <Input
          id={`${id}-text`}
          autoComplete="off"
          value={tool.description}
          onChange={(event) => onChange({ ...tool, description: event.target.value })}
        />
      </Labelled>
      <SchemaBox
        label={t('playground.tool.parameters')}
        value={tool.parameters}
        onChange={(parameters) => onChange({ ...tool, parameters })}
      />
    </section>
  )
}
