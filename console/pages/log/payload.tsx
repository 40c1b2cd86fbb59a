import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Eye, SquareTerminal } from 'lucide-react'
import { useState } from 'react'
import type { Capture, CapturedBody } from '../../../contract/api/capture.ts'
import type { Log } from '../../../contract/api/log.ts'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { CodeBlock } from '../../components/ui/code-block.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Segmented } from '../../components/ui/segmented.tsx'
import { ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { formatCount } from '../../lib/format.ts'
import { handToPlayground, staysInTab } from '../../lib/playground-handoff.ts'
import { useText } from '../../lib/text.ts'
import { Conversation } from './conversation.tsx'
import { captureQuery } from './queries.ts'

/** The recorded content of a request. It is loaded only on demand, because the server logs every access to it. */
export function Payload({ log }: { log: Log }) {
  const t = useText()
  const [asked, setAsked] = useState(false)
  const { data, error, refetch, isFetching } = useQuery({ ...captureQuery(log.request_id), enabled: asked })
  return (
    <Card title={t('recording.payload')}>
      {!asked && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Button icon={<Eye />} onClick={() => setAsked(true)}>
            {t('recording.payload.show')}
          </Button>
          <p className="min-w-0 flex-1 basis-64 text-sm text-muted">{t('recording.payload.hint')}</p>
        </div>
      )}
      {asked && data === undefined && !error && <RowsSkeleton className="h-48" />}
      {error && (
        <ErrorState
          title={t('recording.payload.failed')}
          text={error.message}
          onRetry={() => void refetch()}
          busy={isFetching}
        />
      )}
      {data === null && <NotRecorded log={log} />}
      {data && <Recorded log={log} capture={data} />}
    </Card>
  )
}

/** Offers to record the next requests like this one. */
function NotRecorded({ log }: { log: Log }) {
  const t = useText()
  const offers = [
    ['user', log.user_id],
    ['token', log.token_id],
    ['channel', log.channel],
  ] as const
  return (
    <div role="status" className="flex flex-col gap-3 text-sm">
      <p>{t('recording.payload.none')}</p>
      <div className="flex flex-wrap gap-2">
        {offers
          .filter(([, id]) => id > 0)
          .map(([target, id]) => (
            <Link key={target} to="/recording" search={{ target, id: String(id) }} className={buttonClass()}>
              {t(`recording.payload.${target}`)}
            </Link>
          ))}
      </div>
    </div>
  )
}

type View = 'turns' | 'raw'

const views: readonly View[] = ['turns', 'raw']

/** Both sides: the caller's request and response, and each channel's request and response. */
function Recorded({ log, capture }: { log: Log; capture: Capture }) {
  const t = useText()
  const [side, setSide] = useState('caller')
  const [view, setView] = useState<View>('turns')
  const attempt = capture.attempts[Number(side)]
  const { request, response, status } = attempt ?? capture
  const sides = [
    { value: 'caller', label: t('recording.side.caller') },
    ...capture.attempts.map((each, index) => ({
      value: String(index),
      label: t('recording.side.attempt', {
        name: `${capture.attempts.length > 1 ? `${index + 1}. ` : ''}${each.channel_name || each.channel_id}`,
      }),
    })),
  ]
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        <Segmented label={t('recording.side')} options={sides} value={side} onChange={setSide} wraps />
        <Segmented<View>
          label={t('recording.view')}
          options={views.map((value) => ({ value, label: t(`recording.view.${value}`) }))}
          value={view}
          onChange={setView}
        />
        <InPlayground log={log} capture={capture} />
      </div>
      <Facts capture={capture} dialect={attempt?.dialect ?? capture.dialect} status={status} />
      {view === 'raw' && !attempt && <Headers capture={capture} />}
      <Body title={t('recording.request')} body={request} view={view} />
      <Body title={t('recording.response')} body={response} view={view} />
    </div>
  )
}

/** Opens the conversation in the playground of this tab. */
function InPlayground({ log, capture: { request, response, dialect } }: { log: Log; capture: Capture }) {
  const t = useText()
  const model = log.asked_model || log.model_name
  if (model === '' || request.turns.length === 0) return null
  const conversation = {
    turns: [...request.turns, ...response.turns],
    body: dialect === 'openai-chat' && !request.truncated ? request.text : '',
  }
  const hand = () => handToPlayground({ model, parameters: log.request?.parameters ?? {}, conversation })
  return (
    <Link
      to="/playground"
      search={{ model }}
      className={buttonClass()}
      onClick={(event) => {
        if (staysInTab(event)) hand()
      }}
    >
      <SquareTerminal />
      {t('recording.payload.playground')}
    </Link>
  )
}

function Facts({ capture, dialect, status }: { capture: Capture; dialect: string; status: number }) {
  const t = useText()
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
      <code data-verbatim>{capture.path}</code>
      {dialect !== '' && <span data-verbatim>{dialect}</span>}
      <span>{status > 0 ? t('recording.status', { status: String(status) }) : t('recording.status.none')}</span>
    </p>
  )
}

function Headers({ capture: { headers } }: { capture: Capture }) {
  const t = useText()
  if (headers.length === 0) return null
  return (
    <CodeBlock label={t('recording.headers')} code={headers.map(({ name, value }) => `${name}: ${value}`).join('\n')} />
  )
}

function Body({ title, body, view }: { title: string; body: CapturedBody; view: View }) {
  const t = useText()
  const bytes = (count: number) => t('recording.bytes', { count: formatCount(count) })
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h3 className="flex flex-wrap items-baseline gap-x-3 text-sm font-medium">
        {title}
        <span className="num text-xs font-normal text-muted">{bytes(body.size)}</span>
      </h3>
      {body.truncated && (
        <p className="text-sm text-warn">
          {t('recording.truncated', { kept: bytes(new Blob([body.text]).size), size: bytes(body.size) })}
        </p>
      )}
      {view === 'turns' && body.turns.length > 0 ? (
        <Conversation turns={body.turns} />
      ) : (
        <Raw title={title} body={body} expected={view === 'turns'} />
      )}
    </div>
  )
}

/** A body as it was sent. JSON is indented for reading, which does not change its content. */
function Raw({ title, body, expected }: { title: string; body: CapturedBody; expected: boolean }) {
  const t = useText()
  if (body.text === '' && body.turns.length > 0)
    return <CodeBlock label={title} code={JSON.stringify(body.turns, null, 2)} />
  if (body.text === '') return <p className="text-sm text-muted">{t('recording.noText')}</p>
  return (
    <>
      {expected && <p className="text-sm text-muted">{t('recording.noTurns')}</p>}
      <CodeBlock label={title} code={indented(body.text)} />
    </>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
