import { GatewayError } from '../../errors.ts'
import { removeMember, setMembers } from '../../lib/json-edit.ts'
import { fieldsOf, withContent } from '../body/json-body.ts'
import type { CallBody } from '../call/call.ts'
import type { CallRoute } from '../call/call-routes.ts'

/** The maximum number of models that a caller may list, including the one in `model`. */
const mostCallerModels = 8
const longestName = 256

/**
 * If a body lists several models that may answer (`models`: OpenRouter, "Model Fallbacks"), returns it without that
 * field and with the first of them as its model. Other bodies are returned unchanged. Throws GatewayError (400).
 */
export function withCallerModels(
  body: CallBody,
  { mode, dialect, countOnly }: Pick<CallRoute, 'mode' | 'dialect' | 'countOnly'>,
  isAllowed: boolean,
): CallBody {
  if (body.kind !== 'json' || !('models' in fieldsOf(body)) || !isAllowed || countOnly) return body
  // In Google's API, the URL names the model.
  if ((mode !== 'chat' && mode !== 'completions') || dialect === 'gemini') return body
  const { models: listed, ...rest } = body.json
  const text = removeMember(body.text, 'models')
  const plain = withContent(body, { json: rest, text })
  if (listed === null || (Array.isArray(listed) && listed.length === 0)) return plain
  const models = namesIn(rest['model'], listed)
  const [first] = models
  if (rest['model'] === first) return { ...plain, models }
  return { ...plain, json: { ...rest, model: first }, text: setMembers(text, { model: first }), models }
}

/** The models to try, in order. Throws GatewayError (400). */
function namesIn(model: unknown, listed: unknown): readonly string[] {
  const isName = (name: unknown) => typeof name === 'string' && name !== '' && name.length <= longestName
  if (!Array.isArray(listed) || !listed.every(isName)) throw wrong('models must be a list of the names of models')
  const names = listed as string[]
  const first = typeof model === 'string' && model !== '' ? [model] : []
  // If `model` is present, it must be a name.
  if (model !== undefined && first.length === 0) throw wrong('model must be the name of a model', 'model')
  const models = [...new Set([...first, ...names])]
  if (models.length > mostCallerModels)
    throw wrong(`models may name at most ${mostCallerModels} models, with the one in model`)
  return models
}

function wrong(message: string, param = 'models'): GatewayError {
  return new GatewayError('invalid_field_value', message, { param })
}
