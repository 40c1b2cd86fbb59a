import type { HeaderObject, Reference } from './types.ts'

const perMinute = {
  limit: 'The limit, where the token or its owner has one.',
  remaining: 'What is left of it.',
  reset: 'When all of it will be there again, such as `1m30s`.',
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
    description: 'The call; also in its log row and in error messages.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Total-Count': { description: 'Number of all rows.', required: true, schema: { type: 'integer', minimum: 0 } },
  'X-Matching-Count': {
    description: 'Number of all rows that match, of a list sorted so that it may cover only the newest of them.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Retry-After': { description: 'Seconds until a call may be taken.', schema: { type: 'integer', minimum: 0 } },
  ...limitHeaders,
}

/** The headers that report the state of limits per minute. */
export const limitHeaderNames = Object.keys(limitHeaders)

/** References to the headers with these names. */
export function headersNamed(...names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
