import type { Citation } from '../neutral/conversation.ts'
import { looseList, looseObject, looseText } from '../neutral/fields.ts'
import type { WireAnnotation } from './wire.ts'

/** `annotations` of a message (OpenAI API reference, "url_citation"). */
export function citationsIn(annotations: unknown): Citation[] {
  return looseList(annotations).flatMap((annotation) => {
    if (annotation['type'] !== 'url_citation') return []
    const cited = looseObject(annotation['url_citation'])
    const title = looseText(cited['title'])
    const quote = looseText(cited['content'])
    const { start_index: start, end_index: end } = cited
    return [
      {
        url: looseText(cited['url']),
        ...(title && { title }),
        ...(quote && { quote }),
        ...(typeof start === 'number' && { start }),
        ...(typeof end === 'number' && { end }),
      },
    ]
  })
}

/**
 * A citation as an annotation. `before` is the length of the message's text before the part that contains the citation.
 */
export function annotationOut(citation: Citation, before: number, length: number): WireAnnotation | undefined {
  if (!citation.url) return undefined
  return {
    type: 'url_citation',
    url_citation: {
      start_index: before + (citation.start ?? 0),
      end_index: before + (citation.end ?? length),
      title: citation.title ?? '',
      url: citation.url,
    },
  }
}
