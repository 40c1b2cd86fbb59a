import type { DialectName } from '../dialects/conversation.ts'

/**
 * The token that a request carries, as a caller of its dialect sends it: OpenAI's programs in `Authorization`,
 * Anthropic's in `x-api-key`, Google's in `x-goog-api-key` or `?key=`; a bearer is understood everywhere.
 */
export function credentialOf(request: Request, dialect: DialectName): string | null {
  const { headers } = request
  const bearer = headers.get('authorization')
  if (dialect === 'openai-chat' || dialect === 'openai-responses') return bearer
  if (dialect === 'anthropic-messages') return headers.get('x-api-key') ?? bearer
  const query = request.url.indexOf('?')
  const inAddress = query < 0 ? null : new URLSearchParams(request.url.slice(query)).get('key')
  return headers.get('x-goog-api-key') ?? inAddress ?? bearer
}
