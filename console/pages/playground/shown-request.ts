import { type ChatRequest, FileOnDisk } from '../../components/chat-code.ts'
import type { Attachment } from './attachments.ts'
import type { Lane } from './conversation.ts'
import { type Content, type Extras, requestFor } from './request.ts'
import type { Turn } from './turns.ts'

/** Everything that the request depends on. */
export interface Shown {
  lanes: readonly Lane[]
  turns: readonly Turn[]
  draft: string
  attachments: readonly Attachment[]
  extras: Extras
}

const asFile: Content = ({ name, mediaType }) => new FileOnDisk(name, mediaType)

/**
 * The request to show as code: the one that would send the message in the box or, if the box is empty, the last one
 * that was made. Files appear by name.
 */
export function shownRequest(
  { lanes, turns, draft, attachments, extras }: Shown,
  lane: number,
): ChatRequest | undefined {
  const by = lanes[lane]
  if (!by) return undefined
  const isDraft = draft.trim() !== '' || attachments.length > 0
  const last = turns.at(-1)
  const turn = isDraft || !last ? { question: draft.trim() || (isDraft ? '' : 'Hello'), attachments } : last
  const before = isDraft ? turns : turns.slice(0, -1)
  const answer = isDraft ? undefined : last?.answers[lane]
  const earlier = answer && { ...answer, rounds: answer.rounds.slice(0, -1) }
  const request = requestFor(before, { lane, ...by, turn, extras, ...(earlier && { answer: earlier }) }, asFile)
  return { ...request, stream: true }
}
