import { Paperclip, SendHorizontal, Square } from 'lucide-react'
import { type DragEvent, type Ref, useId, useRef, useState } from 'react'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { useText } from '../../lib/text.ts'
import { AttachmentList, sizeText } from './attachment-list.tsx'
import {
  type Attachment,
  acceptedFiles,
  attach,
  attachmentLimits,
  mostAttachedBytes,
  mostAttachments,
  type Rejection,
} from './attachments.ts'

interface ComposerProps {
  /** A reference to the text area, so that other components can focus it. */
  box: Ref<HTMLTextAreaElement>
  draft: string
  setDraft(draft: string): void
  attachments: readonly Attachment[]
  setAttachments(attachments: readonly Attachment[]): void
  /** What the chosen models do not accept. */
  warnings: readonly string[]
  onSend(): void
  onStop(): void
  /** Whether a response is being received. */
  busy: boolean
  /**
   * Whether the box stays visible while the page is scrolled. In an empty conversation, it would cover the text shown
   * there.
   */
  follows: boolean
  disabled: boolean
}

/** The limits as the texts show them. */
const limitTexts = {
  image: sizeText(attachmentLimits.image),
  pdf: sizeText(attachmentLimits.pdf),
  text: sizeText(attachmentLimits.text),
  total: sizeText(mostAttachedBytes),
  count: mostAttachments,
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')
/** Whether a key was pressed in a dialog. Dialogs handle their own keys. */
const isInDialog = ({ target }: Event) =>
  target instanceof Element && target.closest('[role="dialog"], [role="alertdialog"]') !== null

/** The input box for the next message and its files. */
export function Composer(props: ComposerProps) {
  const { draft, setDraft, attachments, setAttachments, onSend, busy, follows } = props
  const t = useText()
  const id = useId()
  const picker = useRef<HTMLInputElement>(null)
  const [rejected, setRejected] = useState<readonly Rejection[]>([])
  const [isOver, setOver] = useState(false)
  useHotkeys({ 'mod+enter': (event) => !isInDialog(event) && onSend() })
  const add = async (files: readonly File[]) => {
    if (files.length === 0) return
    const result = await attach(attachments, files)
    setAttachments(result.attachments)
    setRejected(result.rejected)
  }
  return (
    <form
      data-at-end="tall"
      className={`bg-bg pt-3 pb-2 ${follows ? 'sticky bottom-0' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        setOver(false)
        void add([...event.dataTransfer.files])
      }}
    >
      <Notices rejected={rejected} warnings={props.warnings} />
      <div className="pb-2 empty:hidden">
        <AttachmentList
          attachments={attachments}
          onRemove={(place) => setAttachments(attachments.filter((_, index) => index !== place))}
        />
      </div>
      <label htmlFor={id} className="sr-only">
        {t('playground.message')}
      </label>
      <Textarea
        ref={props.box}
        id={id}
        rows={3}
        value={draft}
        placeholder={t(isOver ? 'playground.attach.drop' : 'playground.placeholder')}
        aria-describedby={`${id}-hint ${id}-files`}
        className={`resize-none ${isOver ? 'outline-2 outline-ring' : ''}`}
        onChange={(event) => setDraft(event.target.value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files]
          if (files.length === 0) return
          event.preventDefault()
          void add(files)
        }}
      />
      <div className="mt-2 flex flex-wrap items-center justify-end gap-3">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={acceptedFiles}
          onChange={({ currentTarget }) => {
            void add([...(currentTarget.files ?? [])])
            // Resetting the value allows the same file to be chosen again after it was removed.
            currentTarget.value = ''
          }}
        />
        <Button icon={<Paperclip />} onClick={() => picker.current?.click()}>
          {t('playground.attach')}
        </Button>
        <span className="flex-1 text-end text-sm text-muted">
          <span id={`${id}-hint`} className="max-sm:sr-only">
            {t('playground.hint')}
          </span>
        </span>
        {busy ? (
          <Button icon={<Square />} onClick={props.onStop}>
            {t('playground.stop')}
          </Button>
        ) : (
          <Button type="submit" look="primary" icon={<SendHorizontal />} disabled={props.disabled}>
            {t('playground.send')}
          </Button>
        )}
      </div>
      <p id={`${id}-files`} className={`mt-1.5 text-xs text-muted ${follows ? 'max-sm:sr-only' : ''}`}>
        {t('playground.attach.hint', limitTexts)}
      </p>
    </form>
  )
}

/** Files that were not attached and why, and what the models do not accept. */
function Notices({ rejected, warnings }: { rejected: readonly Rejection[]; warnings: readonly string[] }) {
  const t = useText()
  const reasons = rejected.map(({ name, why }) => t(why, { name, ...limitTexts }))
  return (
    <div className="flex flex-col gap-2 pb-2 empty:hidden">
      {reasons.length > 0 && <Lines kind="bad" lines={reasons} />}
      {warnings.length > 0 && <Lines kind="warn" lines={warnings} />}
    </div>
  )
}

function Lines({ kind, lines }: { kind: 'bad' | 'warn'; lines: readonly string[] }) {
  return (
    <Banner kind={kind} live>
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may be rejected for the same reason
        <p key={place} className="break-words">
          {line}
        </p>
      ))}
    </Banner>
  )
}
