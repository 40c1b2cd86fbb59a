import { queryOptions } from '@tanstack/react-query'
import { docsApi } from '../../../contract/api/docs.ts'
import { tokenApi } from '../../../contract/api/token.ts'
import { basePath } from '../../lib/base-path.ts'
import { call } from '../../lib/call.ts'
import type { ApiDocument } from './document.ts'

/** Maximum number of tokens that the user can choose from. */
const tokensToChoose = 100

/** The server's OpenAPI document. It changes only with the server's version. */
export const documentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }) => {
    const response = await fetch(`${basePath}${docsApi.document.path}`, { signal })
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    return (await response.json()) as ApiDocument
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** The user's own tokens, newest first. */
export const ownTokensQuery = queryOptions({
  queryKey: ['token', 'reference'],
  queryFn: ({ signal }) => call(tokenApi.list, { query: { p: 0, size: tokensToChoose } }, { signal, quiet: true }),
})
