import type { JsonObject } from '../../lib/json.ts'
import { type ChatRequest, cannotSay, chatBased, noChoices } from '../chat-based/chat-based.ts'
import { plainTurns } from '../chat-based/plain-turns.ts'
import { serviceFailure } from '../failures/service-failure.ts'
import { kindOfStatus, messageOf } from '../neutral/failure.ts'
import { looseCount, looseList, looseText } from '../neutral/fields.ts'
import type { FailureKind } from '../neutral/reply.ts'

/**
 * DeepL's translations (API reference, "Translate text"). The response is the user's last message in another language.
 */
export const deeplTranslate = chatBased({
  name: 'deepl',
  billsPromptAlone: true,
  request: requestOut,
  reply: completion,
  chunks: () => (wire) => [completion(wire)],
  decodeFailure: (status, body) => serviceFailure(status, kindOf(status), messageOf(body, status), ''),
})

/** The target language is the end of the model's name. */
function requestOut(request: ChatRequest): JsonObject {
  const language = /-([a-z]{2}(?:-[a-z]{2,4})?)$/i.exec(request.model)?.[1]
  if (!language) throw cannotSay('the model must be named deepl-<language>, like deepl-de', 'model')
  const text = plainTurns(request.messages).turns.findLast(({ role }) => role === 'user')?.text
  if (!text) throw cannotSay('there is no user message to translate', 'messages')
  return { text: [text], target_lang: language.toUpperCase(), show_billed_characters: true }
}

/** DeepL bills by character. The billed characters of the text are counted as prompt tokens. */
function completion(wire: JsonObject): JsonObject {
  const [translation] = looseList(wire['translations'])
  if (!translation) return noChoices
  const characters = looseCount(translation['billed_characters'])
  return {
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: looseText(translation['text']) },
        finish_reason: 'stop',
      },
    ],
    ...(characters > 0 && { usage: { prompt_tokens: characters, completion_tokens: 0, total_tokens: characters } }),
  }
}

/** Status 456 means that the account has used up its character quota for the current period. */
function kindOf(status: number): FailureKind {
  if (status === 456) return 'quota'
  return status === 403 ? 'authentication' : kindOfStatus(status)
}
