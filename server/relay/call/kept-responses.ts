import { GatewayError } from '../../errors.ts'
import type { StoredResponse } from '../../store/accounts/stored-responses.ts'
import type { CallBody } from './call.ts'
import type { Caller } from './caller.ts'
import type { RelayDeps } from './deps.ts'
import type { ThreadKeeper } from './threads.ts'

/**
 * The channel and key that store the response or conversation from which a call of the Responses API continues.
 * Undefined if the call starts a new conversation, or continues from something that this gateway does not know. Throws
 * GatewayError (404) if the response or conversation belongs to another user or can no longer be reached.
 */
export function responseKeeper(
  deps: RelayDeps,
  caller: Caller,
  body: CallBody,
): Promise<ThreadKeeper | undefined> | undefined {
  if (body.kind === 'form') return undefined
  const { previous_response_id: previous, conversation } = body.json
  if (typeof previous === 'string') return keeperOf(deps, caller, previous, 'previous_response_id')
  const id = conversationId(conversation)
  return id === undefined ? undefined : keeperOf(deps, caller, id, 'conversation')
}

function conversationId(conversation: unknown): string | undefined {
  if (typeof conversation === 'string') return conversation
  const id =
    typeof conversation === 'object' && conversation !== null && 'id' in conversation ? conversation.id : undefined
  return typeof id === 'string' ? id : undefined
}

async function keeperOf(deps: RelayDeps, caller: Caller, id: string, param: string): Promise<ThreadKeeper | undefined> {
  const stored = await ownResponse(deps, caller, id, param)
  return stored && keeperFor(deps, stored, param)
}

/**
 * The caller's stored response. Undefined if this gateway does not know it. Throws GatewayError (404) if it belongs to
 * somebody else.
 */
export async function ownResponse(
  { responseOwners }: Pick<RelayDeps, 'responseOwners'>,
  { userId }: Pick<Caller, 'userId'>,
  id: string,
  param = 'id',
): Promise<StoredResponse | undefined> {
  const stored = await responseOwners.find(userId, id).catch((cause: unknown) => {
    throw new GatewayError('database_unavailable', 'the response cannot be looked up now, try again', { cause })
  })
  if (stored === 'other') throw notFound(param)
  return stored
}

/** The channel and key that store a response. Throws GatewayError (404) if the channel or key no longer exists. */
export function keeperFor(
  deps: Pick<RelayDeps, 'responseOwners' | 'routing'>,
  stored: StoredResponse,
  param = 'id',
): ThreadKeeper {
  const keeper = deps.responseOwners.keeper(stored, deps.routing().channel(Number(stored.channel_id)))
  if (!keeper) throw notFound(param)
  return keeper
}

/** The error is the same whether a response never existed, was deleted, or belongs to somebody else. */
export function notFound(param: string): GatewayError {
  return new GatewayError(
    'response_not_found',
    'no response or conversation with this id is stored for you: send the whole conversation',
    { param },
  )
}
