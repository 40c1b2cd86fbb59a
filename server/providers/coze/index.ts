import { collected, cozeChat } from '../../dialects/coze/index.ts'
import { asEvents, asJson, NamedEventFraming } from '../../lib/bytes/reframe.ts'
import { isEventStream } from '../../lib/bytes/sse.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, Provider, Upstream } from '../provider.ts'

/** The user id that is sent to a bot if the channel does not specify one. */
const anyone = 'tollgate'

const chatOf = ({ config }: Upstream): ChatEndpoint => ({
  dialect: cozeChat,
  lacks: ['tools', 'images', 'audio', 'documents', 'structured output', 'more than one answer', 'logprobs'],
  target: ({ baseUrl, key }) => ({ url: `${baseUrl}/v3/chat`, headers: { authorization: `Bearer ${key}` } }),
  finish: (body): JsonObject => {
    const { user_id: user } = config
    return { ...body, user_id: typeof user === 'string' && user !== '' ? user : anyone }
  },
  read(response, call) {
    if (!isEventStream(response.headers)) return response
    const framing = new NamedEventFraming()
    return call.stream ? asEvents(response, framing) : asJson(response, framing, collected)
  },
})

/** The provider for Coze. A model name is `bot-` and the id of a bot. */
export const coze: Provider = {
  meta: {
    type: 34,
    name: 'coze',
    label: 'Coze',
    color: 'blue',
    defaultBaseUrl: 'https://api.coze.com',
    models: [],
    keyHint: 'access token; the models are named bot-<id>',
  },
  modes: {},
  chat: (upstream) => [chatOf(upstream)],
  asksForStreamUsage: true,
  addsToPrompt: true,
}
