import { queryOptions } from '@tanstack/react-query'
import { logApi } from '../../../contract/api/log.ts'
import { type Token, tokenApi } from '../../../contract/api/token.ts'
import { logType } from '../../../contract/log-types.ts'
import { call } from '../../lib/call.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { keyOf } from '../../lib/token-key.ts'
import { callRelay, relayFailure } from './chat-stream.ts'

/** Maximum number of tokens that the user can choose from. */
const tokensToChoose = 100

/** The user's tokens, newest first. */
export const ownTokensQuery = queryOptions({
  queryKey: ['token', 'playground'],
  queryFn: ({ signal }) => call(tokenApi.list, { query: { p: 0, size: tokensToChoose } }, { signal, quiet: true }),
})

/** The models that a token may use, as the relay lists them. The query throws ChatFailure. */
export const modelsQuery = (token: Token) =>
  queryOptions({
    queryKey: ['relay-models', token.id],
    queryFn: async ({ signal }) => {
      const response = await callRelay('/v1/models', keyOf(token), { signal })
      if (!response.ok) throw await relayFailure(response)
      const { data } = (await response.json()) as { data: { id: string }[] }
      return data.map(({ id }) => id).sort((one, other) => one.localeCompare(other))
    },
  })

/** The model that gave the last answer in this browser. */
export const lastModel = () => readStored('ui.model')

/** Remembers which model answered. */
export const rememberModel = (model: string) => writeStored('ui.model', model)

const costTries = 4
const costRetryMs = 800
const newestCalls = 20

/**
 * The charge of a call, in quota, from its log row; undefined if calls are not logged. A stopped call is charged a
 * moment later, so its row is looked up a few times.
 */
export async function costOf(requestId: string): Promise<number | undefined> {
  const query = { p: 0, size: newestCalls, type: logType.consume }
  for (let tries = 0; tries < costTries; tries++) {
    const rows = await call(logApi.self, { query }, { quiet: true }).catch(() => [])
    const row = rows.find((log) => log.request_id === requestId)
    if (row) return row.quota
    await new Promise((resolve) => setTimeout(resolve, costRetryMs))
  }
  return undefined
}
