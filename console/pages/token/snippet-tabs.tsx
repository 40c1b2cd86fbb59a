import type { Token } from '../../../contract/api/token.ts'
import { chatSnippets } from '../../components/chat-snippets.ts'
import { CodeTabs } from '../../components/code-tabs.tsx'
import { serverAddress } from '../../lib/server-address.ts'
import { useText } from '../../lib/text.ts'
import { keyOf, maskedKey } from '../../lib/token-key.ts'
import { useModel } from './use-model.ts'

/** Ready-made calls with the key. `masked` hides the key on the screen but not in the copied text. */
export function SnippetTabs({ token, masked = false }: { token: Token; masked?: boolean }) {
  const t = useText()
  const model = useModel(token)
  const key = keyOf(token)
  const snippets = [
    ...chatSnippets(key, { model, messages: [{ role: 'user', content: 'Hello' }] }),
    { id: 'env', label: t('token.snippet.env'), code: `OPENAI_BASE_URL=${serverAddress()}/v1\nOPENAI_API_KEY=${key}` },
  ]
  const secret = masked ? { value: key, shown: maskedKey(token) } : undefined
  return <CodeTabs label={t('token.snippet')} snippets={snippets} secret={secret} />
}
