import type { ChatRequest } from '../../components/chat-code.ts'
import { text } from '../../lib/text.ts'
import { type CallPiece, ChatFailure, streamChat } from './chat-stream.ts'
import { costOf, rememberModel } from './queries.ts'
import type { Round, ToolCall } from './turns.ts'

type Patch = (change: (round: Round) => Round) => void

/** Adds a piece to the function calls. A piece without a name continues the call at its index. */
function withPiece(calls: readonly ToolCall[], piece: CallPiece): readonly ToolCall[] {
  const before = calls[piece.index]
  const merged: ToolCall = {
    id: before?.id || piece.id || `call_${piece.index + 1}`,
    name: (before?.name ?? '') + piece.name,
    arguments: (before?.arguments ?? '') + piece.arguments,
    ...((piece.extra ?? before?.extra) && { extra: { ...before?.extra, ...piece.extra } }),
  }
  if (before) return calls.map((call, index) => (index === piece.index ? merged : call))
  return [...calls, merged]
}

/** Makes the call and records the response as it arrives, with its times. Afterwards, it records the cost. */
export async function receive(key: string, request: ChatRequest, signal: AbortSignal, patch: Patch): Promise<void> {
  const from = performance.now()
  let first: number | undefined
  let requestId: string | undefined
  const arrived = (change: (round: Round) => Partial<Round>) => {
    first ??= performance.now()
    const firstTextMs = first - from
    patch((round) => ({ ...round, state: 'streaming', firstTextMs, ...change(round) }))
  }
  const ended = () => (first === undefined ? {} : { writingMs: performance.now() - first })
  try {
    await streamChat({
      key,
      request,
      signal,
      brokenOff: text('playground.brokenOff'),
      listener: {
        onStart: (id) => {
          requestId = id
        },
        onText: (more) => arrived((round) => ({ text: round.text + more })),
        onReasoning: (more) => arrived((round) => ({ reasoning: round.reasoning + more })),
        onDetails: (details) => arrived((round) => ({ details: [...round.details, ...details] })),
        onCall: (piece) => arrived((round) => ({ calls: withPiece(round.calls, piece) })),
        onUsage: (usage) => patch((round) => ({ ...round, usage })),
      },
    })
    patch((round) => ({ ...round, ...ended(), state: 'done' }))
    rememberModel(request.model)
  } catch (error) {
    if (signal.aborted) patch((round) => ({ ...round, ...ended(), state: 'stopped' }))
    else {
      const { status, message } = error instanceof ChatFailure ? error : new ChatFailure(text('error.network'))
      patch((round) => ({ ...round, ...ended(), state: 'failed', error: { status, message, requestId } }))
    }
  }
  if (requestId === undefined || (first === undefined && !signal.aborted)) return
  const cost = await costOf(requestId)
  if (cost !== undefined) patch((round) => ({ ...round, cost }))
}
