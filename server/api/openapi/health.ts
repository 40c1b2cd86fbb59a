import { json, type PathOperation } from './management.ts'
import { healthTag } from './tags.ts'
import type { JsonSchema, Operation, ResponseObject } from './types.ts'

const state: JsonSchema = {
  type: 'object',
  properties: { status: { type: 'string' } },
  required: ['status'],
  additionalProperties: false,
}

function operation(operationId: string, summary: string, responses: Record<string, ResponseObject>): Operation {
  return { operationId, tags: [healthTag.name], summary, security: [], responses }
}

/** The endpoints for monitoring, outside both APIs. */
export function healthOperations(): PathOperation[] {
  const lives = { 200: { description: 'It does.', content: json(state) } }
  const ready = {
    200: { description: 'It is.', content: json(state) },
    503: { description: 'It is being stopped, or the database cannot be used.', content: json(state) },
  }
  const refused: JsonSchema = {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
    additionalProperties: false,
  }
  const figures = {
    200: { description: 'The figures.', content: { 'text/plain': { schema: { type: 'string' } } } },
    403: { description: 'Neither the token nor an address of this machine.', content: json(refused) },
  }
  return [
    { path: '/healthz', method: 'get', operation: operation('healthLives', 'Whether the process lives', lives) },
    { path: '/readyz', method: 'get', operation: operation('healthReady', 'Whether it can serve calls', ready) },
    {
      path: '/metrics',
      method: 'get',
      operation: {
        ...operation('healthMetrics', 'Figures for Prometheus', figures),
        description: 'Without METRICS_TOKEN only callers on the same machine may read them.',
        security: [{ metricsToken: [] }, {}],
      },
    },
  ]
}
