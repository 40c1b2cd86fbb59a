import type { Conversation, Part } from '../../dialects/neutral/conversation.ts'
import { longestParsedResult } from '../../dialects/neutral/request-limits.ts'
import { GatewayError } from '../../errors.ts'
import { JsonScan } from '../../lib/json-scan.ts'
import { checkShape, JsonFault, type JsonLimits } from '../../lib/parse-json.ts'
import type { Turns } from '../../lib/turns.ts'

/** Texts whose total length is at most this are parsed without a check. */
const shortCharacters = 64 * 1024
/** The number of characters scanned before other work gets a turn. */
const turnCharacters = 1024 * 1024

/**
 * Refuses requests whose tool inputs are too expensive to parse. Tool inputs are JSON texts inside the strings of a
 * request. Most dialects parse them into objects, and Gemini also parses tool results. Throws GatewayError
 * (request_too_complex) if all these texts together exceed the limits that apply to the request itself.
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
    throw new GatewayError('request_too_complex', `the JSON of tool calls and results ${error.message}`, {
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
