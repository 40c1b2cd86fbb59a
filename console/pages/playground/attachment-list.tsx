import { FileText, X } from 'lucide-react'
import { useText } from '../../lib/text.ts'
import type { Attachment } from './attachments.ts'

const kb = 1024

/** A size as text, such as 512 KB or 1.5 MB. */
export function sizeText(bytes: number): string {
  if (bytes >= kb * kb) return `${Number((bytes / kb / kb).toFixed(1))} MB`
  return `${Math.max(1, Math.round(bytes / kb))} KB`
}

interface AttachmentListProps {
  attachments: readonly Attachment[]
  /** Undefined once the message has been sent. */
  onRemove?: ((place: number) => void) | undefined
}

/** Attached files: previews of images, and the names of other files. */
export function AttachmentList({ attachments, onRemove }: AttachmentListProps) {
  const t = useText()
  if (attachments.length === 0) return null
  return (
    <ul aria-label={t('playground.attached')} className="flex flex-wrap gap-2">
      {attachments.map(({ kind, name, size, content }, place) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
          key={place}
          className="flex h-12 max-w-full items-center gap-2 rounded-md border border-line bg-surface pr-1 text-xs"
        >
          {kind === 'image' ? (
            <img src={content} alt="" className="h-full w-12 rounded-l-md object-cover" />
          ) : (
            <FileText aria-hidden="true" className="ml-2.5 size-5 shrink-0 text-muted" />
          )}
          <span className="min-w-0 pr-1.5">
            <span className="block max-w-40 truncate" data-verbatim>
              {name}
            </span>
            <span className="num block text-muted">{sizeText(size)}</span>
          </span>
          {onRemove && (
            <button
              type="button"
              aria-label={t('playground.attach.remove', { name })}
              className="grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-active hover:text-fg max-sm:size-10"
              onClick={() => onRemove(place)}
            >
              <X className="size-3.5" />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
