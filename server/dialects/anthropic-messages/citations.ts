import type { JsonObject } from '../../lib/json.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { WireCitation } from './wire.ts'

const dialect = 'anthropic-messages'

/** Citations of a text block (Anthropic docs, "Citations"). They apply to the whole block. */
export function citationsIn(value: unknown): { citations?: Citation[] } {
  const list = looseList(value).map(citationIn)
  return list.length > 0 ? { citations: list } : {}
}

/** One citation. All its fields are kept, so that the citation can be sent unchanged in this dialect. */
export function citationIn(citation: JsonObject): Citation {
  const url = looseText(citation['url']) || looseText(citation['source'])
  const title = looseText(citation['title']) || looseText(citation['document_title'])
  const quote = looseText(citation['cited_text'])
  const fileId = looseText(citation['file_id'])
  return {
    ...(url && { url }),
    ...(title && { title }),
    ...(quote && { quote }),
    ...(fileId && { fileId }),
    native: { dialect, fields: citation },
  }
}

/** A citation for an Anthropic caller; undefined if it has no URL. `text` is the text that contains the citation. */
export function citationOut(citation: Citation, text: string): JsonObject | undefined {
  if (citation.native?.dialect === dialect) return citation.native.fields
  if (!citation.url) return undefined
  return {
    type: 'web_search_result_location',
    url: citation.url,
    title: citation.title ?? null,
    cited_text: citation.quote ?? text.slice(citation.start ?? 0, citation.end),
    // The format requires this field. Its value is encrypted by Anthropic, so for other services it is empty.
    encrypted_index: '',
  } satisfies WireCitation
}

/** The citations of a text; null if it has none that the dialect can express. */
export function citationsOut(citations: readonly Citation[] | undefined, text: string): JsonObject[] | null {
  const list = (citations ?? []).map((each) => citationOut(each, text)).filter((each) => each !== undefined)
  return list.length > 0 ? list : null
}
