import { isObject } from '../../lib/json.ts'

/** The number of parts of a conversation that are not text, by kind. */
export interface MediaCounts {
  images: number
  audio: number
  /** Documents, videos and other files. */
  files: number
}

/** The kind of a part for each value of `type` in the dialects of OpenAI and Anthropic. */
const kinds: ReadonlyMap<unknown, keyof MediaCounts> = new Map<unknown, keyof MediaCounts>([
  ['image', 'images'],
  ['image_url', 'images'],
  ['input_image', 'images'],
  ['input_audio', 'audio'],
  ['document', 'files'],
  ['file', 'files'],
  ['input_file', 'files'],
  ['video_url', 'files'],
])

/** The levels of nested lists: messages, their parts, and the parts of a tool's result. */
const mostLevels = 3

/** Counts the parts of a conversation that are not text, in any caller's dialect. It does not read their content. */
export function mediaIn(list: unknown): MediaCounts {
  const counts = { images: 0, audio: 0, files: 0 }
  count(list, counts, mostLevels)
  return counts
}

function count(list: unknown, counts: MediaCounts, levels: number): void {
  if (levels === 0 || !Array.isArray(list)) return
  for (const item of list as unknown[]) {
    if (!isObject(item)) continue
    const kind = kinds.get(item['type']) ?? googleKind(item)
    if (kind) counts[kind]++
    else count(item['content'] ?? item['parts'] ?? item['output'], counts, levels - 1)
  }
}

/** The kind of a part in Google's dialect, by the media type of its inline data or file. */
function googleKind(item: Record<string, unknown>): keyof MediaCounts | undefined {
  const data = item['inlineData'] ?? item['inline_data'] ?? item['fileData'] ?? item['file_data']
  if (!isObject(data)) return undefined
  const type = data['mimeType'] ?? data['mime_type']
  if (typeof type !== 'string') return 'files'
  if (/^image\//i.test(type)) return 'images'
  return /^audio\//i.test(type) ? 'audio' : 'files'
}
