import { addMedia, textsOf } from '../../dialects/metering/event-tally.ts'
import { MediaCounter } from '../../dialects/metering/media-tokens.ts'
import type { MediaTokens } from '../../dialects/neutral/dialect.ts'
import type { Reply } from '../../dialects/neutral/reply.ts'

/** All text that was generated for a reply. */
export function outputOf(reply: Reply): string {
  return reply.choices.flatMap(({ parts }) => parts.flatMap(textsOf)).join('')
}

/** The audio and image tokens of a reply. */
export function mediaOf(reply: Reply): MediaTokens | undefined {
  const media = new MediaCounter()
  for (const { parts } of reply.choices) for (const part of parts) addMedia(part, media)
  return media.tokens
}
