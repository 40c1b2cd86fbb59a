import * as z from 'zod/mini'
import type { RelayCallText } from './relay-calls.ts'
import { field } from './relay-fields/field.ts'
import type { storedPaths } from './relay-paths.ts'

type StoredAddress<Each = (typeof storedPaths)[number]> = Each extends {
  method: infer Method extends string
  path: infer Path extends string
}
  ? `${Method} ${Path}`
  : never

const storedBody = z.looseObject({
  metadata: field(z.looseObject({}), 'Names and values to store with the conversation.'),
  items: field(z.array(z.looseObject({})), 'Items to add, as in the input of a response.'),
})
const storedAnswer = z.looseObject({})
const stored = (summary: string, body?: z.ZodMiniType): RelayCallText => ({
  summary,
  description:
    'Sent to the channel that stores the response or conversation. Only the user who made it can reach it, with any of their tokens. The call costs nothing, but it requires quota and counts towards the limits.',
  ...(body && { body }),
  answer: storedAnswer,
})

/** The API page's text for calls about the objects that a service stores, by method and path. */
export const storedCalls: Readonly<Record<StoredAddress, RelayCallText>> = {
  'GET /v1/responses/{id}': stored('Get a stored response'),
  'DELETE /v1/responses/{id}': stored('Delete a stored response'),
  'GET /v1/responses/{id}/input_items': stored('List the input items of a stored response'),
  'POST /v1/responses/{id}/cancel': stored('Cancel a response'),
  'POST /v1/conversations': stored('Create a conversation', storedBody),
  'GET /v1/conversations/{id}': stored('Get a conversation'),
  'POST /v1/conversations/{id}': stored('Change the metadata of a conversation', storedBody),
  'DELETE /v1/conversations/{id}': stored('Delete a conversation'),
  'GET /v1/conversations/{id}/items': stored('List the items of a conversation'),
  'POST /v1/conversations/{id}/items': stored('Add items to a conversation', storedBody),
  'GET /v1/conversations/{id}/items/{item_id}': stored('Get an item of a conversation'),
  'DELETE /v1/conversations/{id}/items/{item_id}': stored('Delete an item of a conversation'),
}
