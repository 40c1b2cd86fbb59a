import { isOfOtherMaker, modelTraits } from '../../dialects/models/claude-model.ts'
import type { DialectName } from '../../dialects/neutral/conversation.ts'
import { placeSystem, placeSystemItems, type SystemPlacement } from '../../dialects/wire/system-turns.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChatEndpoint, ModeEndpoint } from '../../providers/provider.ts'
import type { Channel } from '../routing/routing-table.ts'

/** What decides where system messages go. */
interface Placing {
  readonly channel: Pick<Channel, 'systemPlacement'>
  readonly endpoint: ChatEndpoint | ModeEndpoint
  readonly upstreamModel: string
}

/**
 * OpenAI chat messages, with system messages moved to where the channel's service accepts them; undefined = they are
 * already there. For callers who speak chat themselves (`isPassedOn`) several at the beginning are left alone, unless
 * the channel's setting says otherwise.
 */
export function chatPlaced(placing: Placing, messages: unknown, isPassedOn: boolean): unknown[] | undefined {
  const placement = placementOf(placing)
  if (placement === 'keep' || !Array.isArray(messages)) return undefined
  return placeSystem(messages, placement, isPassedOn && !placing.channel.systemPlacement ? 'several' : 'one')
}

/**
 * Fields to set in a request that is passed on in the caller's dialect, so that system messages are where they must be.
 */
export function placedMembers(placing: Placing, dialect: DialectName, body: JsonObject): JsonObject {
  const { messages, input } = body
  if (dialect === 'anthropic-messages' && Array.isArray(messages)) {
    const isKept = placing.channel.systemPlacement === 'keep' || takesTurns(placing)
    const placed = isKept ? undefined : placeSystem(messages, 'user', 'none')
    return placed ? { messages: placed } : {}
  }
  if (dialect === 'openai-responses' && Array.isArray(input) && placementOf(placing) !== 'keep') {
    const placed = placeSystemItems(input)
    return placed ? { input: placed } : {}
  }
  return {}
}

/**
 * Newer Claude models accept system messages between turns, wherever they run; older ones and those of other makers do
 * not.
 */
function takesTurns({ channel, endpoint, upstreamModel }: Placing): boolean {
  if (channel.systemPlacement !== undefined) return false
  if ('takesUnsignedThoughts' in endpoint || isOfOtherMaker(upstreamModel)) return false
  return !/claude/i.test(upstreamModel) || modelTraits(upstreamModel).midSystem
}

function placementOf({ channel, endpoint }: Placing): SystemPlacement {
  if (channel.systemPlacement) return channel.systemPlacement
  return 'dialect' in endpoint && !endpoint.takesSystemAnywhere ? 'user' : 'keep'
}
