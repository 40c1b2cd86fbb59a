import { describe, expect, test } from 'bun:test'
import { schemaProblem } from './schema-check.ts'

describe('a JSON schema', () => {
  test('that models support has no problem', () => {
    for (const schema of [
      {},
      { type: 'object', properties: {} },
      { type: ['string', 'null'], enum: ['a', null] },
      {
        type: 'array',
        items: { $ref: '#/$defs/node' },
        $defs: { node: { type: 'object', additionalProperties: false } },
      },
      { type: 'array', prefixItems: [{ type: 'string' }] },
      { properties: { any: true }, required: ['any'] },
      { allOf: [{ required: ['elsewhere'] }], properties: { elsewhere: { anyOf: [{ type: 'null' }, { const: 1 }] } } },
    ])
      expect(schemaProblem(schema)).toBeUndefined()
  })

  test('with a mistake is reported with the position of the mistake', () => {
    const mistakes: readonly (readonly [schema: unknown, at: string, what: string, detail?: string])[] = [
      ['text', '', 'schema'],
      [true, '', 'schema'],
      [{ type: 'map' }, '', 'type', '"map"'],
      [{ type: ['string', 7] }, '', 'type', '7'],
      [{ properties: [] }, '', 'properties'],
      [{ enum: [] }, '', 'enum'],
      [{ required: 'a' }, '', 'required'],
      [{ properties: { a: {} }, required: ['a', 'b'] }, '', 'unlisted', 'b'],
      [{ properties: {}, required: ['toString'] }, '', 'unlisted', 'toString'],
      [{ properties: { a: { items: { type: 'array' } } } }, 'properties.a.items', 'items'],
      [{ $defs: { a: { type: 'x' } } }, '$defs.a', 'type', '"x"'],
      [{ anyOf: [{}, { type: 'x' }] }, 'anyOf.1', 'type', '"x"'],
    ]
    for (const [schema, at, what, detail] of mistakes)
      expect(schemaProblem(schema)).toEqual(JSON.parse(JSON.stringify({ at, what, detail })))
  })

  test('that is nested too deeply is refused', () => {
    const schema: Record<string, unknown> = {}
    schema['items'] = schema
    expect(schemaProblem(schema)?.what).toBe('schema')
  })
})
