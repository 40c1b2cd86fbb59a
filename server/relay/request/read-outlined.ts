import type { PromptText, RequestFacts } from '../../dialects/neutral/dialect.ts'
import { readRequest } from '../../dialects/openai-passthrough/request.ts'
import { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { JsonOutline } from '../../lib/json-outline.ts'
import { quickTokens, textTokens } from '../counting/quick-estimate.ts'

/** The facts about an OpenAI chat request, and the estimate of its prompt tokens. */
interface OutlinedRequest {
  facts: RequestFacts
  promptGuess: number
}

/**
 * Reads an OpenAI chat request from the outline of its body. Its texts are decoded only if they are counted one by one.
 * Undefined if the outline is not enough: every long text must be a text of the prompt by itself, because otherwise its
 * content or its size may count in another way.
 */
export function readOutlined(outline: JsonOutline, pathModel: string | undefined): OutlinedRequest | undefined {
  const facts = factsIn(outline, pathModel)
  const promptGuess = facts && estimateOf(facts.prompt, outline)
  if (!facts || promptGuess === undefined) return undefined
  let texts: readonly string[] | undefined
  const prompt: PromptText = {
    ...facts.prompt,
    get texts() {
      texts ??= readRequest('chat', outline.whole as JsonObject, pathModel).prompt.texts
      return texts
    },
  }
  return { facts: { ...facts, prompt }, promptGuess }
}

/** Undefined if the request is refused: the message must be about the request itself. */
function factsIn(outline: JsonOutline, pathModel: string | undefined): RequestFacts | undefined {
  try {
    return readRequest('chat', outline.value as JsonObject, pathModel)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** The same as `quickEstimate` of the whole request; undefined if a long text is not among the texts, by itself. */
function estimateOf({ texts, fixedTokens }: PromptText, outline: JsonOutline): number | undefined {
  let tokens = fixedTokens
  let found = 0
  for (const text of texts) {
    const size = outline.sizeOf(text)
    if (size) {
      found++
      tokens += quickTokens(size.characters, size.extraBytes)
    } else if (outline.isMarked(text)) return undefined
    else tokens += textTokens(text)
  }
  return found === outline.count ? tokens : undefined
}
