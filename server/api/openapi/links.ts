import type { Link } from './types.ts'

/** The operations that are possible once a row's id is known: read, change and delete. */
interface Life {
  /** The location of the id: in the response if the response contains it, otherwise in the request. */
  id: string
  read?: string
  update?: string
  remove?: string
}

const idInAnswer = '$response.body#/data/id'

/** The links, by the call whose response or request contains the id. */
const lives: Readonly<Record<string, Life>> = {
  tokenCreate: { id: idInAnswer, read: 'tokenGet', update: 'tokenUpdate', remove: 'tokenRemove' },
  tokenGet: { id: '$request.path.id', update: 'tokenUpdate', remove: 'tokenRemove' },
  tokenUpdate: { id: idInAnswer, read: 'tokenGet', remove: 'tokenRemove' },
  channelCreate: {
    id: '$response.body#/data/0',
    read: 'channelGet',
    update: 'channelUpdate',
    remove: 'channelRemove',
  },
  channelGet: { id: '$request.path.id', update: 'channelUpdate', remove: 'channelRemove' },
  channelUpdate: { id: idInAnswer, read: 'channelGet', remove: 'channelRemove' },
  redemptionGet: { id: '$request.path.id', update: 'redemptionUpdate', remove: 'redemptionRemove' },
  redemptionUpdate: { id: idInAnswer, read: 'redemptionGet', remove: 'redemptionRemove' },
  userCreate: { id: idInAnswer, read: 'userGet', update: 'userUpdate', remove: 'userRemove' },
  userGet: { id: '$request.path.id', update: 'userUpdate', remove: 'userRemove' },
  userUpdate: { id: '$request.body#/id', read: 'userGet', remove: 'userRemove' },
}

/** The links of a call's successful response, by name. */
export function linksOf(operationId: string): Record<string, Link> {
  const life = lives[operationId]
  if (!life) return {}
  const { id, read, update, remove } = life
  const byPath = (call: string): Link => ({ operationId: call, parameters: { id } })
  return {
    ...(read && { read: byPath(read) }),
    ...(update && { update: { operationId: update, requestBody: { id } } }),
    ...(remove && { remove: byPath(remove) }),
  }
}
