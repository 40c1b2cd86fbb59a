import { useQuery } from '@tanstack/react-query'
import { Code, Eraser } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { Button } from '../../components/ui/button.tsx'
import { useText } from '../../lib/text.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { useUsualModel } from '../../lib/usual-model.ts'
import { Composer } from './composer.tsx'
import { requestFor, useConversation } from './conversation.ts'
import { ConversationView } from './conversation-view.tsx'
import { emptySettings, isTemperature, isTokenLimit, parametersOf } from './parameters.ts'
import { lastModel, modelsQuery } from './queries.ts'
import { parsePlaygroundSearch } from './search.ts'
import { SettingsPanel } from './settings-panel.tsx'

const CodeDialog = lazy(() => import('./code-dialog.tsx').then((it) => ({ default: it.CodeDialog })))

const isUsable = (token: Token) => token.status === tokenStatus.enabled

/** The initial model: the one that answered last, otherwise the default. */
function useFirstModel(models: readonly string[] | undefined, wanted: boolean): string | undefined {
  const [last] = useState(lastModel)
  const remembered = models?.find((model) => model === last)
  const usual = useUsualModel(wanted && remembered === undefined ? models : undefined)
  return usual.isLoading ? undefined : (remembered ?? usual.model)
}

/** The playground, with the settings at the side and the conversation next to them. */
export function Workbench({ tokens, newest }: { tokens: readonly Token[]; newest: Token }) {
  const t = useText()
  const [search, setSearch] = useUrlState(parsePlaygroundSearch)
  const [settings, setSettings] = useState(emptySettings)
  const [draft, setDraft] = useState('')
  const [code, setCode] = useState(false)
  const box = useRef<HTMLTextAreaElement>(null)
  const token = tokens.find(({ id }) => id === search.token) ?? tokens.find(isUsable) ?? newest
  const models = useQuery(modelsQuery(token))
  const first = useFirstModel(models.data, search.model === undefined)
  const model = search.model ?? first
  const chosen = [model, search.compare].filter((each) => each !== undefined)
  const parameters = parametersOf(settings)
  const conversation = useConversation(token, parameters)
  const { turns, busy } = conversation
  const valid = isTemperature(settings.temperature) && isTokenLimit(settings.maxTokens)
  const ready = valid && model !== undefined && !busy

  const send = () => {
    if (!ready || draft.trim() === '') return
    conversation.send(draft.trim(), chosen)
    setDraft('')
  }
  const last = turns.at(-1)
  const question = draft.trim() || last?.question || 'Hello'
  const history = draft.trim() === '' ? turns.slice(0, -1) : turns
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <SettingsPanel
        tokens={tokens}
        token={token}
        models={models}
        search={{ ...search, model }}
        setSearch={(patch) => setSearch(patch, { replace: true })}
        settings={settings}
        setSettings={setSettings}
      />
      <div className="flex min-w-0 flex-col lg:min-h-[calc(100dvh-13rem)]">
        <div className="mb-3 flex justify-end gap-2">
          <Button size="small" icon={<Eraser />} disabled={turns.length === 0} onClick={conversation.clear}>
            {t('playground.clear')}
          </Button>
          <Button size="small" icon={<Code />} disabled={model === undefined} onClick={() => setCode(true)}>
            {t('playground.code')}
          </Button>
        </div>
        <ConversationView
          turns={turns}
          onSuggestion={(text) => {
            setDraft(text)
            box.current?.focus()
          }}
          onRetry={ready ? (lane, asked) => conversation.retry(lane, chosen[lane] ?? asked) : undefined}
        />
        <Composer
          box={box}
          draft={draft}
          setDraft={setDraft}
          onSend={send}
          onStop={conversation.stop}
          busy={busy}
          follows={turns.length > 0}
          disabled={!ready || draft.trim() === ''}
        />
      </div>
      <Suspense fallback={null}>
        {code && model !== undefined && (
          <CodeDialog
            token={token}
            request={{ ...requestFor(history, { lane: 0, model, question, ...parameters }), stream: true }}
            onClose={() => setCode(false)}
          />
        )}
      </Suspense>
    </div>
  )
}
