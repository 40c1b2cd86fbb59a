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
  const lives = { 200: { description: 'The process is running.', content: json(state) } }
  const ready = {
    200: { description: 'The server is ready for calls.', content: json(state) },
    503: { description: 'The server is shutting down, or the database cannot be used.', content: json(state) },
  }
  const refused: JsonSchema = {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
    additionalProperties: false,
  }
  const figures = {
    200: {
      description: "The metrics in Prometheus' text format.",
      content: { 'text/plain': { schema: { type: 'string' } } },
    },
    403: {
      description:
        'The METRICS_TOKEN is missing or wrong or, if the server has none, the request does not come from the same machine.',
      content: json(refused),
    },
  }
  return [
    { path: '/healthz', method: 'get', operation: operation('healthLives', 'Check whether the process runs', lives) },
    {
      path: '/readyz',
      method: 'get',
      operation: operation('healthReady', 'Check whether the server is ready for calls', ready),
    },
    {
      path: '/metrics',
      method: 'get',
      operation: {
        ...operation('healthMetrics', 'Get metrics for Prometheus', figures),
        description: 'If the server has no METRICS_TOKEN, only callers on the same machine can read the metrics.',
        security: [{ metricsToken: [] }, {}],
      },
    },
  ]
}
