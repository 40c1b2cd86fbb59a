import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { copyText } from '../../lib/clipboard.ts'
import { useText } from '../../lib/text.ts'
import { IconButton } from './icon-button.tsx'

/** Code to read and copy. `shown` is the visible text, in which secrets may be masked. */
export function CodeBlock({ label, code, shown }: { label: string; code: string; shown?: string }) {
  const t = useText()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    if (!(await copyText(code))) return
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region */}
      <section aria-label={label} tabIndex={0} className="overflow-x-auto p-3 pr-11 max-sm:pt-11">
        <pre className="font-mono text-xs leading-5">
          <code>{shown ?? code}</code>
        </pre>
      </section>
      <IconButton
        className="absolute top-1.5 right-1.5 bg-sunken"
        label={`${t(copied ? 'do.copied' : 'do.copy')}: ${label}`}
        icon={copied ? <Check /> : <Copy />}
        onClick={() => void copy()}
      />
    </div>
  )
}
