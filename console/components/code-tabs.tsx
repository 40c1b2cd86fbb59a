import { useState } from 'react'
import type { Snippet } from './snippet.ts'
import { CodeBlock } from './ui/code-block.tsx'
import { Segmented } from './ui/segmented.tsx'

interface CodeTabsProps {
  /** Describes the code. */
  label: string
  snippets: readonly Snippet[]
  /** On the screen, `shown` replaces the secret. The copied text contains the secret itself. */
  secret?: { value: string; shown: string } | undefined
}

/** The same code in several languages. One of them is visible at a time. */
export function CodeTabs({ label, snippets, secret }: CodeTabsProps) {
  const [chosen, setChosen] = useState('')
  const current = snippets.find((snippet) => snippet.id === chosen) ?? snippets[0]
  if (!current) return null
  const shown = secret ? current.code.replaceAll(secret.value, secret.shown) : current.code
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div>
        <Segmented
          label={label}
          options={snippets.map((snippet) => ({ value: snippet.id, label: snippet.label }))}
          value={current.id}
          onChange={setChosen}
        />
      </div>
      <CodeBlock label={`${label}: ${current.label}`} code={current.code} shown={shown} />
    </div>
  )
}
