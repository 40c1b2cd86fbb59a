import { Check, Copy, Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '../../lib/clipboard.ts'
import { useText } from '../../lib/text.ts'
import { IconButton } from './icon-button.tsx'

interface CopyFieldProps {
  /** Describes the value, such as "key of laptop". */
  label: string
  value: string
  /** Shown until the value is revealed; if omitted, the value is visible. */
  masked?: string
  fallback?: (value: string) => void
}

/** A value to copy. It may be masked until the user reveals it, and it can be copied in both states. */
export function CopyField({ label, value, masked, fallback }: CopyFieldProps) {
  const t = useText()
  const [shown, setShown] = useState(masked === undefined)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(value, fallback ? { fallback } : {}))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <div className="flex items-center gap-0.5 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 py-1 font-mono text-sm break-all">{shown ? value : masked}</code>
      {masked !== undefined && (
        <IconButton
          label={`${t(shown ? 'do.hide' : 'do.reveal')}: ${label}`}
          aria-pressed={shown}
          icon={shown ? <EyeOff /> : <Eye />}
          onClick={() => setShown(!shown)}
        />
      )}
      <IconButton
        label={`${t(copied ? 'do.copied' : 'do.copy')}: ${label}`}
        icon={copied ? <Check /> : <Copy />}
        onClick={() => void copy()}
      />
    </div>
  )
}
