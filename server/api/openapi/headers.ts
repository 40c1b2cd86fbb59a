import type { HeaderObject, Reference } from './types.ts'

const perMinute = {
  limit: 'The limit of the token or its owner, if there is one.',
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
    description: 'Number of all matching rows, for a list whose sorting restricts it to the newest of them.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Searched-Count': {
    description: 'Number of the newest rows that were searched, if older rows were not.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': {
    description: 'Seconds after which the next call can be accepted.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Request-Id': {
    description: "The same id, or the upstream's, in the header that OpenAI's libraries read.",
    schema: { type: 'string' },
  },
  'Request-Id': {
    description: "The same id, or the upstream's, in the header that Anthropic's libraries read.",
    schema: { type: 'string' },
  },
  'X-Tollgate-Dropped': {
    description:
      'Fields that were dropped because the request was translated and the channel does not have them, separated by commas. With StrictTranslationEnabled, such a request is rejected instead.',
    schema: { type: 'string' },
  },
  'X-Should-Retry': {
    description: '`false` if the same request would be rejected again. Libraries of OpenAI and Anthropic read it.',
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
