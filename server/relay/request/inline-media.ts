import type { Conversation, MediaPart, Message, Part } from '../../dialects/neutral/conversation.ts'
import { mediaOf } from '../../dialects/wire/media.ts'
import { GatewayError } from '../../errors.ts'
import { inParallel } from '../../lib/in-parallel.ts'
import type { FetchedMedia } from '../../outbound/fetch-media.ts'

/** The maximum number of URLs. It is larger than the number of images that any model accepts. */
const mostAddresses = 32
/** The limit for all files of a conversation together, in base64 characters. */
const mostCharacters = 64 * 1024 * 1024
const width = 4

/** Downloads the file at a URL. */
type Fetch = (url: string) => Promise<FetchedMedia>

/**
 * Replaces the URLs of images, audio and documents in a conversation by the bytes of the files, for services that do
 * not open URLs. Each URL is read once. Videos and URLs other than http(s) are left unchanged. Throws GatewayError
 * (400) if a file cannot be fetched.
 */
export async function inlineMedia(conversation: Conversation, fetchMedia: Fetch): Promise<Conversation> {
  const named = conversation.messages.flatMap(({ parts }) => parts.flatMap(urlsIn))
  if (named.length === 0) return conversation
  const times = new Map<string, number>()
  for (const url of named) times.set(url, (times.get(url) ?? 0) + 1)
  const urls = [...times.keys()]
  if (urls.length > mostAddresses)
    throw new GatewayError('invalid_field_value', `a request can refer to at most ${mostAddresses} files by URL`)
  const files = new Map<string, FetchedMedia>()
  let characters = 0
  await inParallel(urls, width, async (url) => {
    if (characters > mostCharacters) throw tooMuch()
    const file = await fetchMedia(url)
    // A file is fetched once, but it is sent once for each reference to it.
    characters += file.data.length * (times.get(url) ?? 1)
    if (characters > mostCharacters) throw tooMuch()
    files.set(url, file)
  })
  return { ...conversation, messages: conversation.messages.map((message) => withBytes(message, files)) }
}

/** True if a conversation references files by URLs that `inlineMedia` would fetch. */
export function namesAddresses({ messages }: Conversation): boolean {
  return messages.some(({ parts }) => parts.some((part) => urlsIn(part).length > 0))
}

function tooMuch(): GatewayError {
  return new GatewayError('request_too_large', 'the files referred to by URL are too large in total')
}

/** The URL of a part, if `inlineMedia` fetches it. */
function urlOf({ media, source }: MediaPart): string | undefined {
  return media !== 'video' && source.kind === 'url' && /^https?:/i.test(source.url) ? source.url : undefined
}

function urlsIn(part: Part): string[] {
  if (part.type === 'tool-result') return part.content.flatMap(urlsIn)
  const url = part.type === 'media' ? urlOf(part) : undefined
  return url === undefined ? [] : [url]
}

function withBytes(message: Message, files: ReadonlyMap<string, FetchedMedia>): Message {
  return { ...message, parts: message.parts.map((part) => replaced(part, files)) }
}

function replaced(part: Part, files: ReadonlyMap<string, FetchedMedia>): Part {
  if (part.type === 'tool-result') {
    const content = part.content.map((each) => (each.type === 'media' ? replacedMedia(each, files) : each))
    return { ...part, content }
  }
  return part.type === 'media' ? replacedMedia(part, files) : part
}

function replacedMedia(part: MediaPart, files: ReadonlyMap<string, FetchedMedia>): MediaPart {
  const url = urlOf(part)
  const file = url === undefined ? undefined : files.get(url)
  if (!file) return part
  return { ...part, media: mediaOf(file.mediaType), source: { kind: 'inline', ...file } }
}
