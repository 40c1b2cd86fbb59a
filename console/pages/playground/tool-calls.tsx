import { Wrench } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { CodeBlock } from '../../components/ui/code-block.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { useText } from '../../lib/text.ts'
import { Labelled } from './labelled.tsx'
import type { ToolCall } from './turns.ts'

/** JSON with line breaks; text that is not JSON stays as it is. */
export function prettyJson(source: string): string {
  try {
    return JSON.stringify(JSON.parse(source), null, 2)
  } catch {
    return source
  }
}

interface ToolCallsProps {
  calls: readonly ToolCall[]
  /** Sends the results; undefined if the model does not wait for them or cannot be called now. */
  onReply: ((results: readonly string[]) => void) | undefined
  /** Whether the model waits for results. */
  waits: boolean
}

/** The functions that a model wants to call. The user types what they returned. */
export function ToolCalls({ calls, onReply, waits }: ToolCallsProps) {
  const t = useText()
  const [results, setResults] = useState<readonly string[]>([])
  const isComplete = calls.every((_, place) => (results[place] ?? '').trim() !== '')
  const send = () => {
    if (onReply && isComplete) onReply(calls.map((_, place) => results[place] ?? ''))
  }
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {calls.map((call, place) => (
        <Call
          // biome-ignore lint/suspicious/noArrayIndexKey: the calls keep their order, and an upstream may repeat an id
          key={place}
          call={call}
          value={results[place] ?? ''}
          onChange={
            waits
              ? (value) => setResults(calls.map((_, at) => (at === place ? value : (results[at] ?? ''))))
              : undefined
          }
          onSend={send}
        />
      ))}
      {waits && (
        <Button type="submit" look="primary" className="self-start" disabled={!onReply || !isComplete}>
          {t('playground.call.send', { count: calls.length })}
        </Button>
      )}
    </form>
  )
}

interface CallProps {
  call: ToolCall
  /** The result so far. */
  value: string
  /** Undefined if no result can be typed. */
  onChange: ((value: string) => void) | undefined
  onSend(): void
}

function Call({ call, value, onChange, onSend }: CallProps) {
  const t = useText()
  const id = useId()
  const { name } = call
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line p-3" data-call={name}>
      <p className="flex items-center gap-2 text-sm font-medium">
        <Wrench aria-hidden="true" className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 break-words">{t('playground.call', { name })}</span>
      </p>
      <CodeBlock label={t('playground.call.arguments', { name })} code={prettyJson(call.arguments)} />
      {call.result !== undefined && (
        <div>
          <p className="text-xs text-muted">{t('playground.call.result')}</p>
          <p className="font-mono text-xs break-words whitespace-pre-wrap" data-verbatim>
            {call.result}
          </p>
        </div>
      )}
      {onChange && (
        <Labelled id={id} label={t('playground.call.resultOf', { name })}>
          <Textarea
            id={id}
            rows={2}
            spellCheck={false}
            className="font-mono text-xs! max-sm:text-base!"
            placeholder={t('playground.call.placeholder')}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
              event.preventDefault()
              onSend()
            }}
          />
        </Labelled>
      )}
    </div>
  )
}
