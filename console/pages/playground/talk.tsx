import { Code, MessagesSquare, SquarePen } from 'lucide-react'
import { Suspense, useRef, useState } from 'react'
import type { ModelFacts } from '../../../contract/api/model.ts'
import type { Token } from '../../../contract/api/token.ts'
import { Button } from '../../components/ui/button.tsx'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import type { Attachment } from './attachments.ts'
import { Composer } from './composer.tsx'
import type { Conversation } from './conversation.ts'
import { ConversationView } from './conversation-view.tsx'
import type { Lanes } from './lanes.ts'
import type { Extras } from './request.ts'
import { useKept } from './use-kept.ts'
import { useWarnings } from './use-warnings.ts'

const CodeDialog = lazy(() => import('./code-dialog.tsx').then((it) => ({ default: it.CodeDialog })))
const KeptDrawer = lazy(() => import('./kept-drawer.tsx').then((it) => ({ default: it.KeptDrawer })))

const none: readonly Attachment[] = []

interface TalkProps {
  token: Token
  lanes: Lanes
  facts: ReadonlyMap<string, ModelFacts>
  extras: Extras
  setExtras(extras: Extras): void
  conversation: Conversation
  /** The initial text in the box. */
  firstDraft: string | undefined
}

/** The conversation, and the box for the next message. */
export function Talk({ token, lanes, facts, extras, setExtras, conversation, firstDraft = '' }: TalkProps) {
  const box = useRef<HTMLTextAreaElement>(null)
  const [draft, setDraft] = useState(firstDraft)
  const [attachments, setAttachments] = useState(none)
  const [open, setOpen] = useState<'code' | 'kept'>()
  const { turns, busy } = conversation
  const kept = useKept({ turns, settings: lanes.settings, extras }, lanes.models)
  const warnings = useWarnings(lanes.models, { facts, attachments, extras })
  const ready = lanes.areValid && lanes.models.length > 0 && !busy
  const isEmpty = draft.trim() === '' && attachments.length === 0
  const close = () => setOpen(undefined)

  const send = () => {
    if (!ready || isEmpty) return
    conversation.send({ question: draft.trim(), attachments }, lanes.lanes)
    setDraft('')
    setAttachments(none)
  }
  const startAgain = () => {
    conversation.show([])
    kept.show(undefined)
  }
  return (
    <div className="flex min-w-0 flex-col lg:min-h-[calc(100dvh-13rem)]">
      <Toolbar hasTurns={turns.length > 0} hasModel={lanes.models.length > 0} onOpen={setOpen} onClear={startAgain} />
      <Answers
        lanes={lanes}
        conversation={conversation}
        isReady={ready}
        isKept={kept.isOn}
        onSuggestion={(text) => {
          setDraft(text)
          box.current?.focus()
        }}
      />
      <Composer
        box={box}
        draft={draft}
        setDraft={setDraft}
        attachments={attachments}
        setAttachments={setAttachments}
        warnings={warnings}
        onSend={send}
        onStop={conversation.stop}
        busy={busy}
        follows={turns.length > 0}
        disabled={!ready || isEmpty}
      />
      <Suspense fallback={null}>
        {open === 'code' && (
          <CodeDialog token={token} shown={{ lanes: lanes.lanes, turns, draft, attachments, extras }} onClose={close} />
        )}
        {open === 'kept' && (
          <KeptDrawer
            kept={kept}
            onOpen={({ id, models }, body) => {
              conversation.show(body.turns)
              kept.show(id, body.turns)
              lanes.show(models, body.settings)
              setExtras(body.extras)
              close()
            }}
            onGone={startAgain}
            onClose={close}
          />
        )}
      </Suspense>
    </div>
  )
}

interface ToolbarProps {
  hasTurns: boolean
  hasModel: boolean
  onOpen(what: 'code' | 'kept'): void
  onClear(): void
}

function Toolbar({ hasTurns, hasModel, onOpen, onClear }: ToolbarProps) {
  const t = useText()
  return (
    <div className="mb-3 flex flex-wrap justify-end gap-2">
      <Button size="small" icon={<MessagesSquare />} onClick={() => onOpen('kept')}>
        {t('playground.kept')}
      </Button>
      <Button size="small" icon={<SquarePen />} disabled={!hasTurns} onClick={onClear}>
        {t('playground.clear')}
      </Button>
      <Button size="small" icon={<Code />} disabled={!hasModel} onClick={() => onOpen('code')}>
        {t('playground.code')}
      </Button>
    </div>
  )
}

interface AnswersProps {
  lanes: Lanes
  conversation: Conversation
  isReady: boolean
  isKept: boolean
  onSuggestion(text: string): void
}

/** The conversation so far, with the actions for its turns. */
function Answers({ lanes: { lanes }, conversation, isReady, isKept, onSuggestion }: AnswersProps) {
  const { turns } = conversation
  const [main] = lanes
  if (!isReady || !main) {
    return (
      <ConversationView
        turns={turns}
        isKept={isKept}
        onSuggestion={onSuggestion}
        onRetry={undefined}
        onResend={undefined}
        onReply={undefined}
      />
    )
  }
  return (
    <ConversationView
      turns={turns}
      isKept={isKept}
      onSuggestion={onSuggestion}
      onRetry={(place, model) => conversation.retry(place, { ...main, ...(lanes[place] ?? { model }) })}
      onResend={(place, question) => {
        const attachments = turns[place]?.attachments ?? none
        conversation.send({ question, attachments }, lanes, place)
      }}
      // A turn may have more answers than there are models selected now.
      onReply={(turn, place, results) => conversation.reply(turn, place, results, (lanes[place] ?? main).parameters)}
    />
  )
}
