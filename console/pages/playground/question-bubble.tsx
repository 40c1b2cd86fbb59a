import { Pencil } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { AttachmentList } from './attachment-list.tsx'
import type { Turn } from './turns.ts'

interface QuestionBubbleProps {
  turn: Turn
  /** Sends the changed question instead of this one; undefined while that is not possible. */
  onResend: ((question: string) => void) | undefined
}

/** A question with its files. It can be changed and sent again, which removes everything after it. */
export function QuestionBubble({ turn, onResend }: QuestionBubbleProps) {
  const t = useText()
  const [draft, setDraft] = useState<string>()
  if (draft !== undefined) {
    return <Editor turn={turn} draft={draft} setDraft={setDraft} onResend={onResend} />
  }
  return (
    <div className="ml-auto flex max-w-[85%] items-start gap-1">
      {onResend && (
        <IconButton
          label={t('playground.edit')}
          icon={<Pencil />}
          className="mt-1.5"
          onClick={() => setDraft(turn.question)}
        />
      )}
      <div className="flex min-w-0 flex-col gap-2 rounded-lg bg-active px-3.5 py-2.5">
        <p className="sr-only">{t('playground.you')}</p>
        <AttachmentList attachments={turn.attachments} />
        {turn.question !== '' && (
          <p className="break-words whitespace-pre-wrap" data-verbatim>
            {turn.question}
          </p>
        )}
      </div>
    </div>
  )
}

interface EditorProps extends QuestionBubbleProps {
  draft: string
  /** With undefined, editing ends. */
  setDraft(draft: string | undefined): void
}

function Editor({ turn, draft, setDraft, onResend }: EditorProps) {
  const t = useText()
  const id = useId()
  const isReady = onResend !== undefined && (draft.trim() !== '' || turn.attachments.length > 0)
  const send = () => {
    if (!isReady) return
    setDraft(undefined)
    onResend(draft.trim())
  }
  return (
    <form
      className="ml-auto flex w-full max-w-[85%] flex-col gap-2 rounded-lg bg-active p-3"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <AttachmentList attachments={turn.attachments} />
      <label htmlFor={id} className="sr-only">
        {t('playground.edit.label')}
      </label>
      <Textarea
        id={id}
        rows={3}
        aria-describedby={`${id}-hint`}
        value={draft}
        autoFocus
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setDraft(undefined)
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          send()
        }}
      />
      <p id={`${id}-hint`} className="text-xs text-muted">
        {t('playground.edit.hint')}
      </p>
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={() => setDraft(undefined)}>
          {t('do.cancel')}
        </Button>
        <Button size="small" type="submit" look="primary" disabled={!isReady}>
          {t('playground.send')}
        </Button>
      </div>
    </form>
  )
}
