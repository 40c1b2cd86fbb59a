import type { ReactNode } from 'react'
import type { CallParameters, LogRequest } from '../../../contract/api/log-request.ts'
import { Card } from '../../components/ui/page.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useText } from '../../lib/text.ts'

/** The names that providers give their formats. */
const dialects: Readonly<Record<string, string>> = {
  'openai-chat': 'OpenAI Chat Completions',
  'openai-responses': 'OpenAI Responses',
  'anthropic-messages': 'Anthropic Messages',
  gemini: 'Google Gemini',
}

const parameterNames = [
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'reasoning_effort',
  'thinking',
  'thinking_tokens',
  'verbosity',
  'messages',
  'inputs',
  'images',
  'audio',
  'files',
  'tools',
  'tool_choice',
  'response_format',
  'service_tier',
  'choices',
  'size',
  'quality',
  'dimensions',
] as const satisfies readonly (keyof CallParameters)[]

/** How a request was made: its endpoint, its formats, its parameters without content, and its app. */
export function SentCard({ request }: { request: LogRequest }) {
  const t = useText()
  const { path, dialect, upstream_dialect: upstream, client, parameters } = request
  const facts: [string, ReactNode][] = [
    [t('log.peek.endpoint'), path && <code data-verbatim>{path}</code>],
    [t('log.sent.dialect'), dialect && <Verbatim text={dialects[dialect] ?? dialect} />],
    [t('log.sent.upstream'), upstream && <Verbatim text={dialects[upstream] ?? upstream} />],
    [t('log.sent.client'), client && <Verbatim text={client} />],
    ...parameterNames.map((name): [string, ReactNode] => [t(`log.sent.${name}`), shownValue(parameters[name])]),
  ]
  return (
    <Card title={t('log.sent.title')}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0 text-end break-words">{value}</dd>
            </div>
          ))}
      </dl>
    </Card>
  )
}

function Verbatim({ text }: { text: string }) {
  return <span data-verbatim>{text}</span>
}

function shownValue(value: string | number | undefined): ReactNode {
  return typeof value === 'string' ? <Verbatim text={value} /> : value !== undefined ? formatNumber(value) : undefined
}
