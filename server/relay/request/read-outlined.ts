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
 * Reads an OpenAI chat request from the outline of its body. The long texts are decoded only if the prompt is counted
 * exactly. Undefined if the outline is not enough. The outline is enough if each long text is a complete text of the
 * prompt. Otherwise, the content or the size of the text may matter in another way.
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

/**
 * Undefined if the request is refused, because the error message must then be based on the request itself and not on
 * its outline.
 */
function factsIn(outline: JsonOutline, pathModel: string | undefined): RequestFacts | undefined {
  try {
    return readRequest('chat', outline.value as JsonObject, pathModel)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/**
 * The same result as `quickEstimate` for the whole request. Undefined if a long text is not a complete text of the
 * prompt.
 */
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
