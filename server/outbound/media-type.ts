/** The characteristic first bytes of each file type, with their offset. */
const beginnings: readonly (readonly [mediaType: string, at: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/webp', 8, 'WEBP'],
  ['image/heic', 4, 'ftypheic'],
  ['image/avif', 4, 'ftypavif'],
  ['application/pdf', 0, '%PDF-'],
  ['audio/wav', 8, 'WAVE'],
  ['audio/flac', 0, 'fLaC'],
  ['audio/ogg', 0, 'OggS'],
  ['audio/mpeg', 0, 'ID3'],
]

/** Aliases of media types. */
const sameAs: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'application/x-pdf': 'application/pdf',
}

/**
 * The type of a file, determined from its first bytes or, if these match no known type, from the Content-Type header.
 * Undefined if the file is not an image, a sound or a PDF.
 */
export function mediaTypeOf(bytes: Uint8Array, contentType: string): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  const headerType = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const beginning = beginnings.find(([, at, text]) => start.startsWith(text, at))
  // If the header names a type that is not an image, a sound, a video or a PDF, the bytes are ignored: an HTML page
  // that begins like an image is still a page.
  const isOther =
    headerType !== '' && !/^(?:image|audio|video)\/|^application\/(?:x-)?pdf$|octet-stream$/.test(headerType)
  if (isOther) return undefined
  if (beginning) return beginning[0]
  const type = sameAs[headerType] ?? headerType
  // SVG is excluded, because it can contain scripts and no provider accepts it.
  return /^(?:image\/(?!svg)|audio\/)[\w.+-]+$/.test(type) ? type : undefined
}
