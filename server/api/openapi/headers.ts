import type { HeaderObject, Reference } from './types.ts'

const perMinute = {
  limit: 'The limit per minute of the token or its owner, if there is one.',
  remaining: 'How much of the limit is left.',
  reset: 'Time until the full limit is available again, such as `1m30s`.',
}

/** The headers for the limits on requests and on tokens per minute. */
const limitHeaders = Object.fromEntries(
  ['Requests', 'Tokens'].flatMap((what) =>
    Object.entries(perMinute).map(([part, description]): [string, HeaderObject] => [
      `X-RateLimit-${part[0]?.toUpperCase()}${part.slice(1)}-${what}`,
      { description, schema: { type: 'string' } },
    ]),
  ),
)

/** Every header in the OpenAPI document. */
export const sharedHeaders: Record<string, HeaderObject> = {
  'X-Oneapi-Request-Id': {
    description: 'Id of the call, which is also in its log row and in error messages.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description: 'Number of rows that the list covers.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Matching-Count': {
    description:
      'Number of all matching rows. Sent if the list covers only the newest of them because of how it is sorted.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Searched-Count': {
    description: 'Number of rows that were searched. Sent if only the newest rows were searched.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next call.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Request-Id': {
    description:
      "The id in `X-Oneapi-Request-Id`, or the upstream's own id of the call, in the header that OpenAI's libraries read.",
    schema: { type: 'string' },
  },
  'Request-Id': {
    description:
      "The id in `X-Oneapi-Request-Id`, or the upstream's own id of the call, in the header that Anthropic's libraries read.",
    schema: { type: 'string' },
  },
  'X-Tollgate-Dropped': {
    description:
      'Comma-separated fields of the request that were dropped in its translation, because the channel does not support them. If the option StrictTranslationEnabled is on, a request with such fields is rejected instead.',
    schema: { type: 'string' },
  },
  'X-Should-Retry': {
    description:
      '`false` if the same request would be rejected again. The libraries of OpenAI and Anthropic then do not retry.',
    schema: { type: 'string' },
  },
  ...limitHeaders,
}

/** The names of the headers that report the state of limits per minute. */
export const limitHeaderNames = Object.keys(limitHeaders)

/** References to the headers with these names. */
export function headersNamed(...names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
