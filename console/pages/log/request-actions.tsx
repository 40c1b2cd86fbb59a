import { Link } from '@tanstack/react-router'
import { Braces, SquareTerminal, Terminal } from 'lucide-react'
import type { Log } from '../../../contract/api/log.ts'
import { isChatModel } from '../../../contract/model-kinds.ts'
import { chatSnippets } from '../../components/chat-snippets.ts'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { copyText } from '../../lib/clipboard.ts'
import { handToPlayground, staysInTab } from '../../lib/playground-handoff.ts'
import { useText } from '../../lib/text.ts'

/**
 * A command that makes a similar call. It has placeholders for the content, which the log does not have, and for the
 * key.
 */
function curlOf(model: string, stream: boolean): string {
  const messages = [{ role: 'user', content: 'Hello' }]
  const [curl] = chatSnippets('$API_KEY', { model, messages, ...(stream && { stream }) })
  return curl?.code ?? ''
}

const chatPath = '/v1/chat/completions'

/** The actions for a request: try its model with its parameters, or copy it. */
export function RequestActions({ log }: { log: Log }) {
  const t = useText()
  const model = log.asked_model || log.model_name
  // Older rows contain their endpoint only if the call failed.
  const path = log.request?.path ?? log.endpoint
  const isChat = model !== '' && (path ? path === chatPath : isChatModel(model))
  // The playground can open conversations of all formats, because it sends each of them as a chat completion.
  const isConversation = isChat || (model !== '' && log.request?.dialect !== undefined)
  return (
    <>
      {isConversation && (
        <Link
          to="/playground"
          search={{ model }}
          className={buttonClass()}
          onClick={(event) => {
            if (staysInTab(event)) handToPlayground({ model, parameters: log.request?.parameters ?? {} })
          }}
        >
          <SquareTerminal />
          {t('log.inspect.playground')}
        </Link>
      )}
      {isChat && (
        <Button icon={<Terminal />} onClick={() => void copyText(curlOf(model, log.is_stream))}>
          {t('log.inspect.curl')}
        </Button>
      )}
      <Button icon={<Braces />} onClick={() => void copyText(JSON.stringify(log, null, 2))}>
        {t('log.inspect.json')}
      </Button>
    </>
  )
}
