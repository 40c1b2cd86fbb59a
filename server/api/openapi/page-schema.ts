import { escapeHtml } from '../../lib/escape-html.ts'
import type { JsonSchema } from './types.ts'

/** A field of a table, with the path to it: `data[].name`. */
interface Field {
  path: string
  schema: JsonSchema
  isRequired: boolean
}

/** A short description of a type, as HTML. */
export function typeHtml(schema: JsonSchema): string {
  if (schema.$ref !== undefined) {
    const name = escapeHtml(schema.$ref.split('/').at(-1) ?? '')
    return `<a href="#object-${name}">${name}</a>`
  }
  if (schema.const !== undefined) return codeOf(schema.const)
  if (schema.enum) return schema.enum.map(codeOf).join(' or ')
  const forms = schema.oneOf ?? schema.anyOf
  if (forms) return forms.map(typeHtml).join(' or ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeHtml({ ...schema, type })).join(' or ')
  switch (schema.type) {
    case 'array':
      return `list of ${typeHtml(schema.items ?? {})}${countText(schema, 'minItems', 'maxItems')}`
    case 'object':
      if (schema.properties?.success) return schema.properties.success.const ? 'success' : 'failure'
      return isRecord(schema) ? `object of ${typeHtml(schema.additionalProperties as JsonSchema)}` : 'object'
    case 'integer':
      return `whole number${rangeText(schema)}`
    case 'number':
      return `number${rangeText(schema)}`
    case 'string':
      return `text${countText(schema, 'minLength', 'maxLength')}`
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return 'anything'
  }
}

/** The fields of an object and of its nested objects, as a table. Empty if there are none. */
export function fieldsTable(schema: JsonSchema, caption: string, need: 'always' | 'needed' = 'always'): string {
  const fields = fieldsOf(schema, '')
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ path, schema: { default: value, ...field }, isRequired }) =>
      `<tr><th scope="row"><code>${escapeHtml(path)}</code></th><td>${typeHtml(field)}</td><td>${
        isRequired ? need : value === undefined ? 'optional' : `optional, ${codeOf(value)}`
      }</td><td>${textOf(field)}</td></tr>`,
  )
  return table(caption, ['Field', 'Value', need === 'always' ? 'Present' : 'Needed', 'Meaning'], rows)
}

/** A table that scrolls horizontally on a narrow page. */
export function table(caption: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((each) => `<th scope="col">${each}</th>`).join('')
  return `<div class="wide" tabindex="0" role="group" aria-label="${escapeHtml(caption)}"><table><caption>${escapeHtml(caption)}</caption><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

/** A value as JSON. */
function codeOf(value: unknown): string {
  return `<code>${escapeHtml(JSON.stringify(value))}</code>`
}

/** The description of a schema, or of its first variant that has one. */
function textOf(schema: JsonSchema): string {
  const described = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].find((each) => each.description)
  return escapeHtml(described?.description ?? '')
}

function fieldsOf(schema: JsonSchema, path: string): Field[] {
  if (schema.type === 'array' && schema.items) return fieldsOf(schema.items, `${path}[]`)
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const own = path === '' ? name : `${path}.${name}`
    return [{ path: own, schema: field, isRequired: required.includes(name) }, ...fieldsOf(field, own)]
  })
}

function isRecord({ additionalProperties, properties }: JsonSchema): boolean {
  return properties === undefined && typeof additionalProperties === 'object'
}

function rangeText({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const from = exclusiveMinimum === 0 ? 1 : minimum
  if (from !== undefined && maximum !== undefined) return `, ${plain(from)} to ${plain(maximum)}`
  if (from !== undefined) return `, from ${plain(from)}`
  return maximum === undefined ? '' : `, up to ${plain(maximum)}`
}

function countText(schema: JsonSchema, least: string, most: string): string {
  const [from, to] = [schema[least], schema[most]]
  const unit = least === 'minLength' ? 'characters' : 'items'
  if (from !== undefined && to !== undefined) return `, ${plain(from)} to ${plain(to)} ${unit}`
  if (from !== undefined) return Number(from) === 1 ? ', not empty' : `, at least ${plain(from)} ${unit}`
  return to === undefined ? '' : `, at most ${plain(to)} ${unit}`
}

function plain(value: unknown): string {
  return Number(value).toLocaleString('en-US')
}
