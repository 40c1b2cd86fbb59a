import * as z from 'zod/mini'
import { auditSchema } from '../../../contract/api/audit.ts'
import { channelSchema, channelTypeSchema } from '../../../contract/api/channel.ts'
import { channelKeySchema, channelTestSchema, testProgressSchema } from '../../../contract/api/channel-operations.ts'
import { dashboardRowSchema, logSchema } from '../../../contract/api/log.ts'
import { optionDefinitionSchema } from '../../../contract/api/option.ts'
import { redemptionSchema } from '../../../contract/api/redemption.ts'
import { statusSchema } from '../../../contract/api/status.ts'
import { tokenSchema } from '../../../contract/api/token.ts'
import { userSchema } from '../../../contract/api/user.ts'
import type { JsonSchema } from './types.ts'

/** Schemas that have a name in the document. All of them occur only in responses. */
const named = {
  Status: statusSchema,
  User: userSchema,
  Token: tokenSchema,
  Channel: channelSchema,
  ChannelType: channelTypeSchema,
  ChannelTest: channelTestSchema,
  ChannelTestRun: testProgressSchema,
  ChannelKey: channelKeySchema,
  Redemption: redemptionSchema,
  Log: logSchema,
  DashboardRow: dashboardRowSchema,
  Option: optionDefinitionSchema,
  AuditEvent: auditSchema,
} as const satisfies Record<string, z.ZodMiniType>

/** Converts schemas of the contract to JSON Schema, and collects the named schemas among them. */
export interface SchemaWriter {
  /** `input` is what a caller may send, `output` what the server sends. */
  write(schema: z.ZodMiniType, io: 'input' | 'output'): JsonSchema
  /** The named schemas that `write` has found so far. */
  components: Record<string, JsonSchema>
}

export function createSchemaWriter(): SchemaWriter {
  const names = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) names.add(schema, { id })
  const components: Record<string, JsonSchema> = {}

  return {
    components,
    write(schema, io) {
      // The schema is wrapped in an object, so that a named schema becomes a reference even at the top level.
      const whole = z.toJSONSchema(z.object({ schema }), {
        io,
        // The ids of schemas are from the table `named`. All other metadata is from the contract.
        metadata: names as never,
        override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, z.globalRegistry.get(zodSchema)),
      }) as unknown as { properties: { schema: JsonSchema }; $defs?: Record<string, JsonSchema> }
      for (const [id, definition] of Object.entries(whole.$defs ?? {})) {
        const { id: _id, ...rest } = definition
        components[id] ??= tidy(rest) as JsonSchema
      }
      return tidy(whole.properties.schema) as JsonSchema
    },
  }
}

/**
 * Changes references so that they lead to the document's own schemas. Drops two redundant rules: that the keys of an
 * object are strings, and that integers are within JavaScript's safe range.
 */
function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
    .filter(([key, each]) => key !== 'propertyNames' && !saysWhole(key, each) && !isOwnPattern(key, each))
    .map(([key, each]) => [
      key,
      key === '$ref' ? String(each).replace('#/$defs/', '#/components/schemas/') : tidy(each),
    ])
  return Object.fromEntries(entries)
}

/**
 * True for a pattern with Unicode classes. These patterns are dropped, because other languages write the classes
 * differently. The field's description explains which characters are allowed.
 */
function isOwnPattern(key: string, value: unknown): boolean {
  return key === 'pattern' && typeof value === 'string' && value.includes('\\p{')
}

function saysWhole(key: string, value: unknown): boolean {
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
}
