import type { JsonObject } from '../../lib/json.ts'
import type { Citation } from '../neutral/conversation.ts'
import { looseList, looseText } from '../neutral/fields.ts'
import type { WireCitation } from './wire.ts'

const dialect = 'openai-responses'

/** `annotations` of a text (OpenAI API reference, "output_text"). */
export function citationsIn(annotations: unknown): Citation[] {
  return looseList(annotations).map(citationIn)
}

/** One annotation. All its fields are kept so that the same dialect can write them unchanged. */
export function citationIn(annotation: JsonObject): Citation {
  const { start_index: start, end_index: end } = annotation
  const url = looseText(annotation['url'])
  const title = looseText(annotation['title']) || looseText(annotation['filename'])
  const fileId = looseText(annotation['file_id'])
  return {
    ...(url && { url }),
    ...(title && { title }),
    ...(fileId && { fileId }),
    ...(typeof start === 'number' && { start }),
    ...(typeof end === 'number' && { end }),
    native: { dialect, fields: annotation },
  }
}

/** A citation as an annotation; undefined if it has no URL. */
function annotationOut(citation: Citation, length: number): JsonObject | undefined {
  if (citation.native?.dialect === dialect) return withRange(citation.native.fields, citation)
  if (!citation.url) return undefined
  return {
    type: 'url_citation',
    url: citation.url,
    title: citation.title ?? '',
    start_index: citation.start ?? 0,
    end_index: citation.end ?? length,
  } satisfies WireCitation
}

/** An annotation with the range of its citation, which may have moved since the annotation was read. */
function withRange(annotation: JsonObject, { start, end }: Citation): JsonObject {
  const isMoved = (name: string, at: number | undefined) => at !== undefined && annotation[name] !== at
  if (!isMoved('start_index', start) && !isMoved('end_index', end)) return annotation
  return {
    ...annotation,
    ...(start !== undefined && { start_index: start }),
    ...(end !== undefined && { end_index: end }),
  }
}

/** Citations as annotations, without those that have no URL. */
export function annotationsOut(citations: readonly Citation[], length: number): JsonObject[] {
  return citations.map((each) => annotationOut(each, length)).filter((each) => each !== undefined)
}
