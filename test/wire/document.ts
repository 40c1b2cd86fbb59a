import { expect } from 'bun:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type {
  JsonSchema,
  Method,
  OpenApi,
  Operation,
  Reference,
  ResponseObject,
} from '../../server/api/openapi/types.ts'

/** All operations in a document. */
export function operationsOf({ paths }: OpenApi): { path: string; method: Method; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method as Method, operation })),
  )
}

/** Checks of responses against an OpenAPI document. */
export interface Promised {
  /** Throws unless the document promises such a response for the operation. Returns the body, parsed if it is JSON. */
  check(operationId: string, response: Response): Promise<unknown>
  /** The validation errors of a value under a schema of the document. */
  errorsOf(schema: JsonSchema, value: unknown): string[]
}

/** Returns checks of responses against this OpenAPI document. */
export function promisedBy(document: OpenApi): Promised {
  // Strict mode, so that a misspelled keyword in our schemas is an error instead of being ignored.
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true })
  ajv.addVocabulary(['components', 'example'])
  const compiled = new Map<JsonSchema, ValidateFunction>()
  const byId = new Map(operationsOf(document).map(({ operation }) => [operation.operationId, operation]))

  function errorsOf(schema: JsonSchema, value: unknown): string[] {
    let validate = compiled.get(schema)
    if (!validate) {
      // References are resolved from the root of the compiled schema, so it contains the document's components.
      validate = ajv.compile({ allOf: [schema], components: document.components })
      compiled.set(schema, validate)
    }
    return validate(value) ? [] : (validate.errors ?? []).map((each) => `${each.instancePath} ${each.message}`)
  }

  return {
    errorsOf,
    async check(operationId, response) {
      const responses = byId.get(operationId)?.responses ?? {}
      const found = responses[response.status] ?? responses.default
      if (!found) throw new Error(`${operationId} does not promise status ${response.status}`)
      const promised = resolve(document, found)
      for (const header of Object.keys(promised.headers ?? {})) {
        if (!document.components.headers[header]?.required) continue
        expect([operationId, header, response.headers.has(header)]).toEqual([operationId, header, true])
      }
      const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? ''
      const wanted = Object.entries(promised.content ?? {}).find(([each]) =>
        new RegExp(`^${each.replace('*', '.+')}$`).test(type),
      )
      if (!wanted) throw new Error(`${operationId} does not promise ${type} with status ${response.status}`)
      const text = await response.text()
      if (type !== 'application/json') return text
      const body: unknown = JSON.parse(text)
      expect([operationId, response.status, errorsOf(wanted[1].schema, body), body]).toEqual([
        operationId,
        response.status,
        [],
        body,
      ])
      return body
    },
  }
}

function resolve(document: OpenApi, response: ResponseObject | Reference): ResponseObject {
  if (!('$ref' in response)) return response
  const found = document.components.responses[response.$ref.replace('#/components/responses/', '')]
  if (!found) throw new Error(`the document has no ${response.$ref}`)
  return found
}
