import type { CapturedTurn } from '../../../contract/api/capture.ts'
import { type Text, useText } from '../../lib/text.ts'

type CapturedPart = CapturedTurn['parts'][number]

/** The turns in order. The user's turns are aligned to the end of the line. */
export function Conversation({ turns }: { turns: readonly CapturedTurn[] }) {
  const t = useText()
  return (
    <ol className="flex flex-col gap-3">
      {turns.map((turn, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a recorded conversation does not change
        <li key={index} className={`flex min-w-0 ${turn.role === 'user' ? 'justify-end' : ''}`}>
          <article
            className={`max-w-full min-w-0 rounded-lg border px-3 py-2 text-sm sm:max-w-[85%] ${looks[turn.role]}`}
          >
            <h4 className="mb-1 text-xs font-medium text-muted">{t(`recording.role.${turn.role}`)}</h4>
            <div className="flex flex-col gap-2">
              {turn.parts.map((part, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a recorded conversation does not change
                <Part key={place} part={part} />
              ))}
            </div>
          </article>
        </li>
      ))}
    </ol>
  )
}

const looks = {
  system: 'border-line bg-sunken',
  user: 'border-line bg-raised',
  assistant: 'border-line bg-surface',
}

function Part({ part }: { part: CapturedPart }) {
  const t = useText()
  const title = titleOf(part, t)
  if (title === undefined) return <p className="break-words whitespace-pre-wrap">{part.text}</p>
  return (
    <div className="min-w-0 border-l-2 border-edge pl-2.5">
      <p className="text-xs text-muted">{title}</p>
      <p className={`break-words whitespace-pre-wrap ${isCode(part) ? 'font-mono text-xs' : ''}`}>{part.text}</p>
    </div>
  )
}

function titleOf({ type, name }: CapturedPart, t: Text): string | undefined {
  if (type === 'text') return undefined
  return type === 'tool_call' || type === 'media' ? t(`recording.part.${type}`, { name }) : t(`recording.part.${type}`)
}

function isCode({ type }: CapturedPart): boolean {
  return type === 'tool_call' || type === 'tool_result' || type === 'other'
}
