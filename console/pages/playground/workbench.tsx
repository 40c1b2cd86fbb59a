import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { tokenStatus } from '../../../contract/statuses.ts'
import { forgetHandoff, waitingHandoff } from '../../lib/playground-handoff.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { useUsualModel } from '../../lib/usual-model.ts'
import { useConversation } from './conversation.ts'
import { type Start, startFrom } from './handed.ts'
import { useFacts, useLanes } from './lanes.ts'
import { lastModel, modelsQuery } from './queries.ts'
import type { Extras } from './request.ts'
import { parsePlaygroundSearch } from './search.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { Talk } from './talk.tsx'
import { emptyFormat } from './tools.ts'

const isUsable = (token: Token) => token.status === tokenStatus.enabled

/** The initial model: the one that answered last, otherwise the default. */
function useFirstModel(models: readonly string[] | undefined, wanted: boolean): string | undefined {
  const [last] = useState(lastModel)
  const remembered = models?.find((model) => model === last)
  const usual = useUsualModel(wanted && remembered === undefined ? models : undefined)
  return usual.isLoading ? undefined : (remembered ?? usual.model)
}

/** The request that another page passed on for this model, if there is one. */
function useStart(model: string | undefined): Start | undefined {
  const t = useText()
  const [start] = useState(() => {
    const handoff = waitingHandoff(model)
    return handoff && startFrom(handoff)
  })
  useEffect(() => {
    forgetHandoff()
    if (start && start.files > 0) toast.warning(t('playground.handed.files', { count: start.files }))
  }, [start, t])
  return start
}

/** The playground, with the settings at the side and the conversation next to them. */
export function Workbench({ tokens, newest }: { tokens: readonly Token[]; newest: Token }) {
  const [search, setSearch] = useUrlState(parsePlaygroundSearch)
  const start = useStart(search.model)
  const [extras, setExtras] = useState<Extras>({ tools: start?.tools ?? [], format: emptyFormat })
  const token = tokens.find(({ id }) => id === search.token) ?? tokens.find(isUsable) ?? newest
  const models = useQuery(modelsQuery(token))
  const usual = useFirstModel(models.data, search.model === undefined)
  const facts = useFacts()
  const lanes = useLanes(search.model ?? usual, search, (patch) => setSearch(patch, { replace: true }), {
    facts,
    first: start?.settings,
  })
  const conversation = useConversation(token, extras, start?.turns)
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
      <SettingsPanel
        tokens={tokens}
        token={token}
        models={models}
        facts={facts}
        lanes={lanes}
        extras={extras}
        setExtras={setExtras}
        // The available models depend on the token, so the chosen models are cleared.
        setToken={(id) => setSearch({ token: id, model: undefined, compare: undefined }, { replace: true })}
      />
      <Talk
        token={token}
        lanes={lanes}
        facts={facts}
        extras={extras}
        setExtras={setExtras}
        conversation={conversation}
        firstDraft={start?.draft}
      />
    </div>
  )
}
