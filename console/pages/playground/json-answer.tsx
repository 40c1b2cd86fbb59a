import { Status } from '../../components/ui/badge.tsx'
import { CodeBlock } from '../../components/ui/code-block.tsx'
import { useText } from '../../lib/text.ts'
import { prettyJson } from './tool-calls.tsx'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A response that should be JSON, with a note that says whether it is valid. */
export function JsonAnswer({ text, isComplete }: { text: string; isComplete: boolean }) {
  const t = useText()
  const valid = isJson(text)
  return (
    <div className="flex flex-col gap-2">
      <CodeBlock label="JSON" code={isComplete ? prettyJson(text) : text} />
      {isComplete && (
        <p className="text-sm">
          <Status color={valid ? 'green' : 'red'}>
            {t(valid ? 'playground.json.valid' : 'playground.json.invalid')}
          </Status>
        </p>
      )}
    </div>
  )
}
