import type { MediaPart, MediaSource } from '../neutral/conversation.ts'

/** Converts a URL to a media source. The bytes in a `data:` URL become inline data. */
export function sourceOf(address: string, mediaType?: string): MediaSource {
  const comma = address.startsWith('data:') ? address.indexOf(',') : -1
  if (comma < 0) return { kind: 'url', url: address, ...(mediaType && { mediaType }) }
  const head = address.slice('data:'.length, comma)
  const rest = address.slice(comma + 1)
  const data = head.endsWith(';base64') ? rest : percentDecoded(rest).toString('base64')
  return { kind: 'inline', data, mediaType: before(head, ';') || mediaType || 'text/plain' }
}

/** The text up to a separator, or the whole text if there is no separator. */
export function before(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at < 0 ? text : text.slice(0, at)
}

/** Decodes a percent-encoded text to bytes. Anything that is not a valid escape is kept unchanged. */
function percentDecoded(text: string): Buffer {
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] === percent ? bytes.toString('latin1', at + 1, at + 3) : ''
    const isCode = /^[0-9a-f]{2}$/i.test(code)
    bytes[length++] = isCode ? Number.parseInt(code, 16) : (bytes[at] as number)
    if (isCode) at += 2
  }
  return bytes.subarray(0, length)
}

const percent = 0x25

/** The source as a URL; undefined for a file that is stored by a service. */
export function addressOf(source: MediaSource): string | undefined {
  if (source.kind === 'file') return undefined
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
}

/** The kind of media for a media type. */
export function mediaOf(mediaType: string): MediaPart['media'] {
  const kind = mediaType.slice(0, mediaType.indexOf('/'))
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

/** Guesses the media type from a URL's file extension, for services that require a media type. */
export function guessedType(address: string, media: MediaPart['media']): string {
  const ending = /\.([a-z0-9]+)(?=[?#]|$)/i.exec(address)?.[1]?.toLowerCase() ?? ''
  return (
    typesByEnding.get(ending) ??
    { image: 'image/jpeg', audio: 'audio/mpeg', video: 'video/mp4', document: 'application/pdf' }[media]
  )
}

const typesByEnding: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['ogg', 'audio/ogg'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
  ['mov', 'video/quicktime'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
])

/** Encodes a text as base64. */
export function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Decodes a text from base64. */
export function fromBase64(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8')
}

/** The detail level for an image; undefined if it is left to the service. */
export function unusualDetail({ detail }: MediaPart): string | undefined {
  return detail === 'auto' ? undefined : detail
}
