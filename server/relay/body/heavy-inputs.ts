import type { Conversation, Part } from '../../dialects/neutral/conversation.ts'
import { longestParsedResult } from '../../dialects/neutral/request-limits.ts'
import { GatewayError } from '../../errors.ts'
import { JsonScan } from '../../lib/json-scan.ts'
import { checkShape, JsonFault, type JsonLimits } from '../../lib/parse-json.ts'
import type { Turns } from '../../lib/turns.ts'

/** What is this short together is parsed without being looked at. */
const shortCharacters = 64 * 1024
/** Scanned between two turns. */
const turnCharacters = 1024 * 1024

/**
 * Inputs of tools are JSON within the strings of a request, and most dialects have objects in their place; Gemini has
 * them in the place of results, too. Throws GatewayError (request_too_complex) when all that would be parsed is made of
 * more, together, than a request itself may be.
 */
export async function refuseHeavyInputs(
  { messages }: Conversation,
  dialect: string,
  { limits, turns }: { limits: JsonLimits; turns: Turns },
): Promise<void> {
  const hasResults = dialect === 'gemini'
  const texts = messages.flatMap(({ parts }) => parts.flatMap((part) => parsedOf(part, hasResults)))
  if (texts.reduce((sum, { length }) => sum + length, 0) <= shortCharacters) return
  const scan = new JsonScan(new Uint8Array(0))
  let sinceTurn = 0
  try {
    for (const text of texts) {
      sinceTurn += text.length
      if (sinceTurn > turnCharacters) {
        await turns.next()
        sinceTurn = 0
      }
      const bytes = Buffer.from(text)
      scan.goOn(bytes)
      scan.step(bytes.length)
      checkShape(scan, limits)
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new GatewayError('request_too_complex', `the JSON of calls and results of tools ${error.message}`, {
      cause: error,
    })
  }
}

/** The texts of a part that will be parsed. */
function parsedOf(part: Part, hasResults: boolean): string[] {
  if (part.type === 'tool-call') return part.freeform ? [] : [part.input]
  if (part.type !== 'tool-result' || !hasResults) return []
  return part.content.flatMap((each) =>
    each.type === 'text' && each.text.length <= longestParsedResult ? [each.text] : [],
  )
}
