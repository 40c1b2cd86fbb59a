import { isObject, type JsonObject, tryParse } from '../../lib/json.ts'
import type { StreamDecoder, StreamMeter } from '../neutral/dialect.ts'
import { looseCount, looseList, looseObject, looseText } from '../neutral/fields.ts'

/** The number of hosted tool calls by kind, or by `kind:size` if the answer reports the size. */
export type ToolCounts = Readonly<Record<string, number>>

/** The maximum number of calls that is credible. A higher count is an upstream error. */
const mostCalls = 1000

/**
 * Strings in events that may contain something to count, in any dialect. Events without any of them need not be parsed.
 */
const marks =
  /search|code_interpreter|code_execution|image_generation|"container"|grounding|executed_tools|num_sources|annotations|server_/i

/** Tool kinds, by item type of the Responses API. */
const itemKinds: Readonly<Record<string, string>> = {
  web_search_call: 'web_search',
  file_search_call: 'file_search',
  code_interpreter_call: 'code_interpreter',
  image_generation_call: 'image_generation',
  x_search_call: 'x_search',
}

/** Tool kinds, by the name of the tool that Anthropic runs. */
const blockKinds: Readonly<Record<string, string>> = {
  web_search: 'web_search',
  code_execution: 'code_interpreter',
  bash_code_execution: 'code_interpreter',
  text_editor_code_execution: 'code_interpreter',
}

/** Tool kinds, by the field of a usage object that counts the calls. */
const usageKinds: Readonly<Record<string, string>> = {
  web_search_requests: 'web_search',
  web_search_calls: 'web_search',
  num_search_queries: 'web_search',
  num_sources_used: 'live_search',
  x_search_calls: 'x_search',
  code_interpreter_calls: 'code_interpreter',
  code_execution_requests: 'code_interpreter',
  file_search_calls: 'file_search',
  document_search_calls: 'file_search',
  image_generation_calls: 'image_generation',
}

/**
 * Counts the calls of hosted tools in an answer of any dialect. It is given either the complete answer or its events.
 */
export class ToolCounter {
  /** The upstream's own counts, which are running totals. */
  readonly #reportedCounts = new Map<string, number>()
  /**
   * The calls seen in the answer, by kind. A call is identified by its id, its position, its container or its search
   * query.
   */
  readonly #seen = new Map<string, Set<string>>()
  #searchSize = ''
  #isCited = false

  /** Reads the data of one event. */
  read(data: string): void {
    if (!marks.test(data)) return
    const value = tryParse(data)
    if (Array.isArray(value)) for (const each of looseList(value)) this.take(each)
    else if (isObject(value)) this.take(value)
  }

  /** Reads a complete answer or an event. */
  take(body: JsonObject): void {
    const response = looseObject(body['response'])
    const message = looseObject(body['message'])
    for (const usage of [body['usage'], response['usage'], message['usage'], looseObject(body['x_groq'])['usage']])
      if (isObject(usage)) this.#usage(usage)
    if (isObject(body['item'])) this.#item(body['item'], body['output_index'])
    for (const list of [body['output'], response['output']])
      for (const [at, item] of looseList(list).entries()) this.#item(item, at)
    if (isObject(body['content_block'])) this.#block(body['content_block'], body['index'])
    for (const [at, block] of looseList(body['content']).entries()) this.#block(block, at)
    const container = body['container'] ?? message['container'] ?? looseObject(body['delta'])['container']
    if (isObject(container)) this.#see('code_interpreter', looseText(container['id']))
    for (const candidate of looseList(body['candidates'])) this.#grounding(looseObject(candidate['groundingMetadata']))
    for (const choice of looseList(body['choices'])) this.#choice(choice)
    for (const list of [body['web_search'], body['search_results'], looseObject(body['search_info'])['search_results']])
      if (looseList(list).length > 0) this.#isCited = true
  }

  /**
   * The calls so far. `known` holds the kinds enabled in the request. If only citations indicate a search, it counts
   * only if search is enabled. With `hasSearched`, one search counts even if the answer shows none, unless the upstream
   * reports a number of searches.
   */
  counts(known: readonly string[], hasSearched = false): ToolCounts {
    const counts: Record<string, number> = {}
    for (const [kind, calls] of this.#seen) if (calls.size > 0) counts[kind] = calls.size
    // The count that the upstream reports replaces our own count of that kind, even if our count distinguishes sizes.
    for (const kind of Object.keys(counts)) if (this.#reportedCounts.has(kind.split(':')[0] ?? '')) delete counts[kind]
    for (const [kind, calls] of this.#reportedCounts) if (calls > 0) counts[kind] = calls
    const isShown = this.#isCited && known.some((kind) => kind.startsWith('web_search'))
    const isSilent = hasSearched && !this.#reportedCounts.has('web_search')
    if ((isShown || isSilent) && counts['web_search'] === undefined) counts['web_search'] = 1
    if (this.#searchSize && counts['web_search'] !== undefined) {
      counts[`web_search:${this.#searchSize}`] = counts['web_search']
      delete counts['web_search']
    }
    return counts
  }

  #usage(usage: JsonObject): void {
    const within = [
      usage,
      usage['server_tool_use'],
      usage['server_tool_use_details'],
      usage['server_side_tool_usage_details'],
    ]
    for (const counts of within.filter(isObject))
      for (const [name, kind] of Object.entries(usageKinds)) if (name in counts) this.#tell(kind, counts[name])
    const plugins = looseObject(usage['plugins'])
    if (isObject(plugins['search'])) this.#tell('web_search', plugins['search']['count'])
    this.#searchSize = looseText(usage['search_context_size']) || this.#searchSize
  }

  #item(item: JsonObject, at: unknown): void {
    const kind = itemKinds[looseText(item['type'])]
    if (kind === undefined || item['status'] === 'failed') return
    const id = nameAt(item['id'], at)
    // An action that opens a page or finds words in it is not a search.
    const action = looseText(looseObject(item['action'])['type'])
    if (kind === 'web_search' && action !== '' && action !== 'search') {
      this.#seen.get(kind)?.delete(id)
      return
    }
    // Code calls count once per container. Calls without a container id are assumed to use the same container.
    const name = kind === 'code_interpreter' ? looseText(item['container_id']) : id
    const quality = kind === 'image_generation' ? looseText(item['quality']) : ''
    // The quality is not yet known when an image call starts. Once it is known, the earlier entry is removed.
    if (quality) this.#seen.get(kind)?.delete(name)
    this.#see(quality && quality !== 'auto' ? `${kind}:${quality}` : kind, name)
  }

  #block(block: JsonObject, at: unknown): void {
    if (block['type'] !== 'server_tool_use') return
    const kind = blockKinds[looseText(block['name'])]
    // Anthropic runs all code of an answer in one container, so all code calls together count once.
    if (kind) this.#see(kind, kind === 'web_search' ? nameAt(block['id'], at) : 'container')
  }

  #grounding(grounding: JsonObject): void {
    const queries = grounding['webSearchQueries']
    for (const query of Array.isArray(queries) ? (queries as unknown[]) : [])
      if (typeof query === 'string' && query !== '') this.#see('web_search', query)
    for (const chunk of looseList(grounding['groundingChunks'])) if (isObject(chunk['maps'])) this.#see('maps', 'maps')
  }

  #choice(choice: JsonObject): void {
    for (const message of [choice['message'], choice['delta']].filter(isObject)) {
      if (looseList(message['annotations']).some(({ type }) => type === 'url_citation')) this.#isCited = true
      for (const [at, tool] of looseList(message['executed_tools']).entries()) {
        const name = String(tool['index'] ?? at)
        if (/search/.test(looseText(tool['type']))) this.#see('web_search', name)
        if (/python|code/.test(looseText(tool['type']))) this.#see('code_interpreter', name)
      }
      for (const [at, call] of looseList(message['tool_calls']).entries())
        if (looseObject(call['function'])['name'] === '$web_search')
          this.#see('web_search', nameAt(call['id'], `${String(choice['index'] ?? 0)}.${String(call['index'] ?? at)}`))
    }
  }

  #tell(kind: string, calls: unknown): void {
    const count = Math.min(looseCount(calls), mostCalls)
    this.#reportedCounts.set(kind, Math.max(this.#reportedCounts.get(kind) ?? 0, count))
  }

  #see(kind: string, name: string): void {
    const names = this.#seen.get(kind) ?? new Set<string>()
    // The events of a call may contain neither an id nor an index; the call is then entered as ''. When the final
    // answer repeats the call, it has an index, and the entry '' is removed.
    if (name.startsWith(placed)) names.delete('')
    if (names.size < mostCalls) names.add(name)
    this.#seen.set(kind, names)
  }
}

const placed = 'at '

/** The id of a call. A call without an id is identified by its position in the answer; '' if it has neither. */
function nameAt(id: unknown, at: unknown): string {
  return looseText(id) || (typeof at === 'number' || typeof at === 'string' ? `${placed}${at}` : '')
}

/** Makes the meter also count hosted tool calls in its events, if any hosted tool is enabled. */
export function countingMeter<Meter extends StreamMeter>(meter: Meter, tools: ToolCounter | undefined): Meter {
  if (!tools) return meter
  const feed = meter.feed.bind(meter)
  meter.feed = (data) => {
    tools.read(data)
    return feed(data)
  }
  return meter
}

/** Makes the decoder also count hosted tool calls in its events, if any hosted tool is enabled. */
export function countingDecoder(decoder: StreamDecoder, tools: ToolCounter | undefined): StreamDecoder {
  if (!tools) return decoder
  return {
    push(data) {
      tools.read(data)
      return decoder.push(data)
    },
    finish: () => decoder.finish(),
  }
}
