import type { MessageKey } from '../../messages/namespaces.ts'

/** A file that is sent with a message: an image or a PDF as a data URL, or a text file as its text. */
export interface Attachment {
  kind: 'image' | 'pdf' | 'text'
  name: string
  mediaType: string
  /** Bytes of the file. */
  size: number
  /** The data URL, or the text of a text file. */
  content: string
}

/** Why a file was not attached. */
export interface Rejection {
  name: string
  why: Extract<MessageKey, `playground.attach.${string}`>
}

const mb = 1024 * 1024

/** The maximum size of a file in bytes, by kind. Providers reject larger images and documents. */
export const attachmentLimits = { image: 5 * mb, pdf: 10 * mb, text: mb / 2 } as const

/** The maximum number of files in a message, and their maximum total size in bytes. */
export const mostAttachments = 8
export const mostAttachedBytes = 20 * mb

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** The file types that the file dialog offers. */
export const acceptedFiles = [
  ...imageTypes,
  'application/pdf',
  'text/*',
  '.md',
  '.json',
  '.csv',
  '.log',
  '.yaml',
].join()

const isPdf = ({ type, name }: File) => type === 'application/pdf' || (type === '' && /\.pdf$/i.test(name))

function kindOf(file: File): Attachment['kind'] | undefined {
  if (imageTypes.includes(file.type)) return 'image'
  if (isPdf(file)) return 'pdf'
  // Browsers do not recognise most types of source files, so the content decides about them.
  return /^(image|audio|video|font)\//.test(file.type) ? undefined : 'text'
}

function dataUrl(file: File, mediaType: string): Promise<string> {
  return new Promise((resolve, fail) => {
    const reader = new FileReader()
    reader.onload = () => resolve(`data:${mediaType};base64,${String(reader.result).replace(/^[^,]*,/, '')}`)
    reader.onerror = () => fail(reader.error ?? new Error('the file cannot be read'))
    reader.readAsDataURL(file)
  })
}

/** The text of a file, or undefined if it is not UTF-8 text. */
async function textOf(file: File): Promise<string | undefined> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

async function read(file: File): Promise<Attachment | Rejection['why']> {
  const kind = kindOf(file)
  if (!kind) return 'playground.attach.type'
  if (file.size > attachmentLimits[kind]) return `playground.attach.large.${kind}`
  if (file.size === 0) return 'playground.attach.empty'
  const mediaType = kind === 'image' ? file.type : kind === 'pdf' ? 'application/pdf' : 'text/plain'
  const content = kind === 'text' ? await textOf(file) : await dataUrl(file, mediaType).catch(() => undefined)
  if (content === undefined) return kind === 'text' ? 'playground.attach.type' : 'playground.attach.unreadable'
  return { kind, name: file.name, mediaType, size: file.size, content }
}

/**
 * Reads files. Files that are too large, of another type or beyond the maximum number are rejected. The others are
 * attached.
 */
export async function attach(
  before: readonly Attachment[],
  files: readonly File[],
): Promise<{ attachments: readonly Attachment[]; rejected: readonly Rejection[] }> {
  const attachments = [...before]
  const rejected: Rejection[] = []
  let bytes = before.reduce((sum, { size }) => sum + size, 0)
  for (const file of files) {
    const why =
      attachments.length >= mostAttachments
        ? 'playground.attach.many'
        : bytes + file.size > mostAttachedBytes
          ? 'playground.attach.total'
          : await read(file)
    if (typeof why === 'string') rejected.push({ name: file.name, why })
    else {
      attachments.push(why)
      bytes += why.size
    }
  }
  return { attachments, rejected }
}
