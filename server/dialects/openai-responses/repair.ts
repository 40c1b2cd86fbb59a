import { isObject, type JsonObject } from '../../lib/json.ts'
import { looseText } from '../neutral/fields.ts'
import type { Repair, RepairOptions } from '../neutral/repair.ts'
import { responsesRules } from '../neutral/tool-rules.ts'
import { ownState } from '../wire/thought-signature.ts'
import { type CallIdFields, withFitIds } from '../wire/wire-ids.ts'

const dialect = 'openai-responses'
/** Ids that this gateway gave to reasoning items. No service recognizes these ids. */
const ownId = /^rs_\d{31}_\d+$/

/** Repairs a Responses API request so that it contains only reasoning and call ids that the service accepts. */
export function repairItems(body: JsonObject, text: string, options: RepairOptions): Repair {
  const { edits, dropped } = withKnownThoughts(body, text, options)
  const input = edits['input'] ?? body['input']
  if (!Array.isArray(input) || !text.includes('call_id')) return { edits, dropped }
  const fit = withFitIds(input, responsesRules.ids, callsIn)
  return { edits: fit ? { ...edits, input: fit } : edits, dropped }
}

/** Finds the ids in items that are calls or their results. */
const callsIn: CallIdFields = {
  member: (item) =>
    typeof item['call_id'] === 'string' && /_call(?:_output)?$/.test(looseText(item['type'])) ? 'call_id' : undefined,
  isResult: (item) => looseText(item['type']).endsWith('_output'),
}

/**
 * Removes reasoning that the service cannot read. This is reasoning that another service encrypted, and reasoning that
 * have neither encrypted content nor an id of the service.
 */
function withKnownThoughts(body: JsonObject, text: string, { withoutThoughts }: RepairOptions): Repair {
  const { input } = body
  if (!Array.isArray(input) || !(text.includes('reasoning') || text.includes('"rs_'))) return { edits: {}, dropped: [] }
  let isLoose = false
  const remaining = (input as unknown[]).flatMap((item) => {
    if (!isObject(item)) return [item]
    if (isThought(item)) {
      const own = withoutThoughts ? undefined : knownThought(item)
      isLoose ||= own === undefined
      return own ? [own] : []
    }
    if (!withoutThoughts || !isLoose || item['id'] === undefined || item['type'] === 'item_reference') return [item]
    // A service that recognizes an item by its id refuses the item if the reasoning item before it is missing. When the
    // reasoning item is removed, the id is therefore removed, too.
    const { id: _id, ...rest } = item
    return [rest]
  })
  if (remaining.length === input.length && remaining.every((item, at) => item === input[at]))
    return { edits: {}, dropped: [] }
  return { edits: { input: remaining }, dropped: isLoose ? ['input.reasoning'] : [] }
}

/** True for a reasoning item or a reference to one. */
function isThought({ type, id }: JsonObject): boolean {
  return type === 'reasoning' || (type === 'item_reference' && looseText(id).startsWith('rs_'))
}

/** A reasoning item in the form that the service accepts; undefined if the service cannot read it. */
function knownThought(item: JsonObject): JsonObject | undefined {
  const sealed = item['encrypted_content']
  const id = looseText(item['id'])
  if (sealed === undefined || sealed === null || sealed === '') return id === '' || ownId.test(id) ? undefined : item
  const own = ownState(sealed, dialect)
  if (own === undefined) return undefined
  return own === sealed ? item : { ...item, encrypted_content: own }
}
