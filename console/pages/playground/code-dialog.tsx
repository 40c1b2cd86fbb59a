import type { Token } from '../../../contract/api/token.ts'
import { type ChatRequest, chatSnippets } from '../../components/chat-snippets.ts'
import { CodeTabs } from '../../components/code-tabs.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'

/** The current call as code for curl, Python and Node. */
export function CodeDialog(props: { token: Token; request: ChatRequest; onClose(): void }) {
  const { token, request, onClose } = props
  const t = useText()
  const key = keyOf(token)
  return (
    <Dialog open onClose={onClose} title={t('playground.code.title')} text={t('playground.code.text')} width="large">
      <CodeTabs
        label={t('playground.code')}
        snippets={chatSnippets(key, request)}
        secret={{ value: key, shown: maskedKey(token) }}
      />
    </Dialog>
  )
}
