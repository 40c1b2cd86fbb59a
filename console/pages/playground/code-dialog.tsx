import { useState } from 'react'
import type { Token } from '../../../contract/api/token.ts'
import { hasFile } from '../../components/chat-code.ts'
import { chatSnippets } from '../../components/chat-snippets.ts'
import { CodeTabs } from '../../components/code-tabs.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'
import { type Shown, shownRequest } from './shown-request.ts'

interface CodeDialogProps {
  token: Token
  shown: Shown
  onClose(): void
}

/** The current call as code for curl, Python and TypeScript. */
export function CodeDialog({ token, shown, onClose }: CodeDialogProps) {
  const t = useText()
  const [lane, setLane] = useState(0)
  const key = keyOf(token)
  const request = shownRequest(shown, lane)
  return (
    <Dialog open onClose={onClose} title={t('playground.code.title')} text={t('playground.code.text')} width="large">
      <div className="flex flex-col gap-3">
        {shown.lanes.length > 1 && (
          <div>
            <Segmented
              wraps
              label={t('playground.model')}
              options={shown.lanes.map(({ model }, place) => ({
                value: String(place),
                label: `${place + 1}. ${model}`,
              }))}
              value={String(lane)}
              onChange={(value) => setLane(Number(value))}
            />
          </div>
        )}
        {request && (
          <CodeTabs
            label={t('playground.code')}
            snippets={chatSnippets(key, request)}
            secret={{ value: key, shown: maskedKey(token) }}
          />
        )}
        {request && hasFile(request) && <p className="text-sm text-muted">{t('playground.code.files')}</p>}
      </div>
    </Dialog>
  )
}
