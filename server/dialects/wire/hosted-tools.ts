import { isObject, type JsonObject } from '../../lib/json.ts'
import { oncePerText } from '../../lib/once-per-text.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** A tool that the service runs itself and bills per call. */
export interface HostedTool {
  /** The gateway's name for the tool, which is the same for all dialects; see docs/prices.md. */
  readonly kind: string
  /**
   * The option that, together with `kind`, determines the price of a call: the search context size, the image quality
   * or the search engine. If the request does not set it, it is `auto` for images and absent for other tools.
   */
  readonly size?: string
  /** The maximum number of calls that the request allows; absent = the model decides. */
  readonly most?: number
}

/** Maps types of tools to kinds. A type may end in an underscore and a version. */
const kindsByType: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/^web_search_preview/, 'web_search_preview'],
  [/^(?:openrouter:)?web_search|^browser_search$/, 'web_search'],
  [/^x_search/, 'x_search'],
  [/^(?:file|collections)_search|^retrieval$/, 'file_search'],
  [/^code_(?:interpreter|execution)/, 'code_interpreter'],
  [/^(?:openrouter:)?image_generation|^drawing_tool$/, 'image_generation'],
  [/^web_browser$/, 'web_search'],
]

/** Maps the fields of Gemini's tools to kinds. Each field has a camel-case and a snake-case spelling. */
const kindsByMember: Readonly<Record<string, string>> = {
  googleSearch: 'web_search',
  google_search: 'web_search',
  googleSearchRetrieval: 'web_search',
  google_search_retrieval: 'web_search',
  enterpriseWebSearch: 'enterprise_search',
  enterprise_web_search: 'enterprise_search',
  googleMaps: 'maps',
  google_maps: 'maps',
  fileSearch: 'file_search',
  file_search: 'file_search',
  codeExecution: 'code_interpreter',
  code_execution: 'code_interpreter',
}

const none: readonly HostedTool[] = []

/**
 * The tools of a request, in any dialect, that the service itself runs and bills. If `tool_choice` is `none`, the tools
 * in `tools` are not included.
 */
export function hostedTools(body: JsonObject, model: string): readonly HostedTool[] {
  if (!mayHaveAny(body) && !searchesAlways(model)) return none
  const hosted = [...offered(body), ...switchedOn(body), ...builtIn(body, model)]
  if (hosted.length === 0) return none
  const most = looseCount(body['max_tool_calls'])
  return most > 0 ? hosted.map((tool) => ({ ...tool, most: Math.min(tool.most ?? most, most) })) : hosted
}

/** True if the request has one of the fields that can hold a tool. Most requests have none. */
function mayHaveAny(body: JsonObject): boolean {
  return (
    body['tools'] !== undefined ||
    body['web_search_options'] !== undefined ||
    body['search_parameters'] !== undefined ||
    body['plugins'] !== undefined ||
    body['parameters'] !== undefined ||
    body['enable_search'] !== undefined ||
    body['web_search'] !== undefined
  )
}

function offered({ tools, tool_choice: choice }: JsonObject): HostedTool[] {
  if (!Array.isArray(tools)) return []
  const isForbidden = choice === 'none' || (isObject(choice) && choice['type'] === 'none')
  if (isForbidden) return []
  const hosted: HostedTool[] = []
  // Functions are skipped first, because a request may contain thousands of them.
  for (const tool of tools as unknown[]) if (isObject(tool) && tool['type'] !== 'function') hosted.push(...toolOf(tool))
  return hosted
}

function toolOf(tool: JsonObject): HostedTool[] {
  const type = looseText(tool['type'])
  if (type === '') {
    return Object.keys(tool).flatMap((name) => {
      const kind = kindsByMember[name]
      return kind === undefined || !isObject(tool[name]) ? [] : [{ kind }]
    })
  }
  // The names of the functions that Moonshot itself provides start with a dollar sign.
  if (type === 'builtin_function')
    return looseObject(tool['function'])['name'] === '$web_search' ? [{ kind: 'web_search' }] : []
  const kind = kindsByType.find(([pattern]) => pattern.test(type))?.[1]
  if (kind === undefined) return []
  const within = looseObject(tool[type])
  if (within['enable'] === false) return []
  const size =
    kind === 'image_generation'
      ? looseText(tool['quality']) || 'auto'
      : looseText(tool['search_context_size']) || looseText(within['search_engine'])
  const most = looseCount(tool['max_uses'])
  return [{ kind, ...(size && { size }), ...(most > 0 && { most }) }]
}

/** Hosted tools that a field other than `tools` enables, for example `web_search_options`. */
function switchedOn(body: JsonObject): HostedTool[] {
  const { web_search_options: options, search_parameters: live, plugins } = body
  const hosted: HostedTool[] = []
  if (isObject(options)) hosted.push(search(looseText(options['search_context_size'])))
  // xAI bills live search per source. It uses 15 sources by default.
  if (isObject(live) && live['mode'] !== 'off')
    hosted.push({ kind: 'live_search', most: looseCount(live['max_search_results']) || 15 })
  for (const plugin of looseList(plugins)) if (plugin['id'] === 'web') hosted.push({ kind: 'web_search', most: 1 })
  const parameters = looseObject(body['parameters'])
  if (body['enable_search'] === true || parameters['enable_search'] === true) {
    const how = looseObject(body['search_options'] ?? parameters['search_options'])
    hosted.push({ ...search(looseText(how['search_strategy'])), most: 1 })
  }
  if (isObject(body['web_search']) && body['web_search']['enable'] === true)
    hosted.push({ kind: 'web_search', most: 1 })
  return hosted
}

function search(size: string): HostedTool {
  return { kind: 'web_search', ...(size && { size }) }
}

/** The search that some models always perform. */
function builtIn(body: JsonObject, model: string): HostedTool[] {
  if (!searchesAlways(model)) return []
  const options = looseObject(body['web_search_options'])
  return isObject(body['web_search_options'])
    ? []
    : [{ ...search(looseText(options['search_context_size'])), most: researches(model) ? 20 : 1 }]
}

/**
 * True for models that search the web in every call. Neither the request nor the answer shows this search; it appears
 * only on the bill.
 */
export const searchesAlways = oncePerText((model) => /(?:^|\/)sonar|-search-preview|-search-api|:online$/.test(model))

function researches(model: string): boolean {
  return /deep-research/.test(model)
}
