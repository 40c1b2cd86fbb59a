import { sendJson } from '../../../helpers/fake-upstream/reply.ts'
import type { HeaderList } from '../../../helpers/fake-upstream/types.ts'
import { type Behaviour, behaviour, type RecordedRequest } from '../../../helpers/fake-upstream.ts'
import { messagesFake } from './anthropic.ts'
import { dashscopeFake, ernieFake, hunyuanFake, sparkFake, zhipuFake } from './china.ts'
import type { Fake, Said } from './fake.ts'
import { geminiFake, palmFake } from './google.ts'
import { chatFake, responsesFake } from './openai.ts'
import { cozeFake, deeplFake, libraryFake, replicateFake, watsonxFake } from './others.ts'
import { cohereFake, converseFake, invokeFake, ollamaFake } from './services.ts'

/**
 * The fake services by the name of their dialect, or by provider and dialect if the provider wraps the dialect in its
 * own way.
 */
const fakes: Readonly<Record<string, Fake>> = {
  'openai-chat': chatFake,
  'spark-http': chatFake,
  minimax: chatFake,
  'openai-responses': responsesFake,
  'anthropic-messages': messagesFake,
  gemini: geminiFake,
  palm: palmFake,
  'bedrock-converse': converseFake,
  'bedrock anthropic-messages': invokeFake,
  'cohere-chat': cohereFake,
  'ollama-chat': ollamaFake,
  ernie: ernieFake,
  hunyuan: hunyuanFake,
  dashscope: dashscopeFake,
  'zhipu-v3': zhipuFake,
  spark: sparkFake,
  coze: cozeFake,
  deepl: deeplFake,
  replicate: replicateFake,
  'aiproxy-library': libraryFake,
  watsonx: watsonxFake,
}

/** The fake of a provider's dialect. Throws for a dialect without a fake. */
export function fakeOf(provider: string, dialect: string): Fake {
  const fake = fakes[`${provider} ${dialect}`] ?? fakes[dialect]
  if (!fake) throw new Error(`no fake service speaks ${dialect}: write one in test/matrix/support/fakes/`)
  return fake
}

/** Whether a request is for an endpoint where services issue temporary tokens. */
const isTokenPlace = ({ path }: RecordedRequest) => /\/oauth\/|\/token$/.test(path)
const token = { access_token: 'a-token-for-a-time', expires_in: 3600, token_type: 'Bearer' }

/** The same behaviour, at a service that also issues temporary tokens. */
export function givingTokens(then: Behaviour): Behaviour {
  return behaviour(then.name, (exchange) =>
    isTokenPlace(exchange.request) ? sendJson(exchange, 200, token) : then.run(exchange),
  )
}

/** Responds as the service would. */
export function says(fake: Fake, said: Said): Behaviour {
  const answers = behaviour('says', async (exchange) => {
    if (!fake.streams(exchange.request)) return sendJson(exchange, 200, fake.whole(said))
    exchange.head(200, [['content-type', fake.streamType ?? 'text/event-stream']])
    for (const piece of fake.pieces(said)) if (!(await exchange.write(piece))) return
    exchange.end()
  })
  return givingTokens(answers)
}

/** The seconds that a fake service tells its callers to wait. */
export const retryAfter = '7'

/** Refuses as the service would. */
export function refuses(fake: Fake, status: 400 | 429, message: string): Behaviour {
  const refusal = fake.refusal(status, message)
  const advice: HeaderList = status === 429 ? [['retry-after', retryAfter]] : []
  return givingTokens(
    behaviour(`refuses with ${status}`, (exchange) => sendJson(exchange, refusal.status, refusal.body, advice)),
  )
}
