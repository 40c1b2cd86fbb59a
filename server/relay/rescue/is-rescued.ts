import type { RelayCall } from '../call/call.ts'
import type { RelayDeps } from '../call/deps.ts'
import { isThreaded } from '../call/thread-calls.ts'
import { keptFields } from '../upstream/prepare-conversation.ts'

/**
 * True if another attempt may continue the stream of this call after it breaks off. The decision uses only facts that
 * are known without reading the whole request.
 */
export function isRescued(deps: Pick<RelayDeps, 'settings'>, call: RelayCall): boolean {
  if (call.state.isPlayedBack) return false
  return (call.plan?.streamRescue ?? deps.settings().StreamRescue) && isContinuable(call)
}

/** True for a call that generates a single answer of text and does not depend on one channel. */
function isContinuable(call: RelayCall): boolean {
  const { mode, facts, compacts, keeper } = call
  if (mode !== 'chat' || !facts.stream || facts.choices !== 1 || compacts || keeper) return false
  return (facts.outputs ?? []).every((output) => output === 'text') && !isThreaded(call) && !isKept(call)
}

/** True if the request continues a response or conversation that one service stores. */
function isKept({ dialect, state: { body } }: RelayCall): boolean {
  if (dialect !== 'openai-responses' || body.kind !== 'json') return false
  return keptFields.some((field) => body.json[field] !== undefined && body.json[field] !== null)
}
