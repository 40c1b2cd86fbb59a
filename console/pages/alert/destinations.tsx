import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Send, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { type AlertDestination, mostDestinations } from '../../../contract/api/alert.ts'
import { deleteQuestion } from '../../components/data-table/delete-question.ts'
import { Badge } from '../../components/ui/badge.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { CopyField } from '../../components/ui/copy-field.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { EmptyState, ErrorState, RowsSkeleton } from '../../components/ui/states.tsx'
import { type Question, useConfirm } from '../../components/ui/use-confirm.tsx'
import { formatRelative } from '../../lib/format.ts'
import { lazy } from '../../lib/lazy.ts'
import { loadAreas, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { type AlertScope, destinationsQuery, removeDestination, testDestination } from './queries.ts'

const DestinationEditor = lazy(async () => {
  const [{ DestinationEditor }] = await Promise.all([import('./destination-editor.tsx'), loadAreas(['form'])])
  return { default: DestinationEditor }
})

/** The destinations of messages, each with a test button. */
export function Destinations({ scope }: { scope: AlertScope }) {
  const t = useText()
  const [ask, question] = useConfirm()
  const [edited, setEdited] = useState<AlertDestination | 'new'>()
  const [secret, setSecret] = useState('')
  const { data, error, isFetching, refetch } = useQuery(destinationsQuery(scope))
  if (error && !data)
    return (
      <ErrorState
        title={t('alert.error.destinations')}
        text={error.message}
        onRetry={() => void refetch()}
        busy={isFetching}
      />
    )
  if (!data) return <RowsSkeleton className="h-72" />
  const isFull = data.length >= mostDestinations[scope]
  const add = (
    <Button icon={<Plus />} disabled={isFull} onClick={() => setEdited('new')}>
      {t('alert.dest.new')}
    </Button>
  )
  return (
    <div className="flex flex-col gap-3">
      {secret !== '' && (
        <Banner kind="warn" live>
          <p className="mb-2">{t('alert.dest.generated')}</p>
          <CopyField label={t('alert.dest.secret')} value={secret} />
        </Banner>
      )}
      <div className="rounded-lg border border-line bg-surface">
        {data.length === 0 ? (
          <EmptyState title={t('alert.dest.empty')} text={t('alert.dest.empty.text')}>
            {add}
          </EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {data.map((destination) => (
              <DestinationRow key={destination.id} {...{ scope, destination, ask }} onEdit={setEdited} />
            ))}
          </ul>
        )}
      </div>
      {data.length > 0 && (
        <div className="flex flex-wrap items-center gap-3">
          {add}
          {isFull && <p className="text-sm text-muted">{t('alert.dest.full', { count: data.length })}</p>}
        </div>
      )}
      <Suspense fallback={null}>
        {edited && (
          <DestinationEditor
            scope={scope}
            destination={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
            onSecret={setSecret}
          />
        )}
      </Suspense>
      {question}
    </div>
  )
}

interface RowProps {
  scope: AlertScope
  destination: AlertDestination
  ask(question: Question): void
  onEdit(destination: AlertDestination): void
}

type TestResult = Awaited<ReturnType<typeof testDestination>>

function DestinationRow({ scope, destination, ask, onEdit }: RowProps) {
  const t = useText()
  const [result, setResult] = useState<TestResult | 'busy'>()
  const { name, kind, hint, has_secret } = destination
  const test = async () => {
    setResult('busy')
    // A call that fails shows its own error.
    setResult(await testDestination(scope, destination).catch(() => undefined))
  }
  const remove = () =>
    ask(
      deleteQuestion(t, {
        name,
        text: t('alert.dest.delete.text'),
        remove: () => removeDestination(scope, destination).then(() => toast.success(t('alert.dest.deleted'))),
      }),
    )
  const isOwnMail = kind === 'mail' && hint === ''
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="flex min-w-0 flex-1 basis-52 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <h2 className="min-w-0 font-medium break-words">{name}</h2>
          <Badge>{t(`alert.kindOf.${kind}`)}</Badge>
          {has_secret && <Badge>{t('alert.dest.signed')}</Badge>}
        </div>
        <p className="text-sm break-all text-muted">{isOwnMail ? t('alert.dest.ownMail.hint') : hint}</p>
        <div className="text-sm" role="status">
          {result === undefined || result === 'busy' ? (
            <LastUse destination={destination} />
          ) : result.ok ? (
            <p className="text-good">{t('alert.dest.test.ok', { time: result.elapsed_time })}</p>
          ) : (
            <p className="break-words text-bad">{t('alert.dest.test.failed', { reason: result.error })}</p>
          )}
        </div>
      </div>
      <div className="flex flex-wrap items-center gap-1.5">
        <Button
          size="small"
          icon={<Send />}
          busy={result === 'busy'}
          aria-label={`${t('alert.dest.test')}: ${name}`}
          onClick={() => void test()}
        >
          {t('alert.dest.test')}
        </Button>
        <IconButton label={`${t('do.edit')}: ${name}`} icon={<Pencil />} onClick={() => onEdit(destination)} />
        <IconButton label={`${t('do.delete')}: ${name}`} icon={<Trash2 />} onClick={remove} />
      </div>
    </li>
  )
}

function LastUse({ destination: { last_time, last_error } }: { destination: AlertDestination }) {
  const t = useText()
  if (last_time === 0) return <p className="text-muted">{t('alert.dest.last.never')}</p>
  const time = formatRelative(last_time)
  return last_error === '' ? (
    <p className="text-muted">{t('alert.dest.last.ok', { time })}</p>
  ) : (
    <p className="break-words text-bad">{t('alert.dest.last.failed', { time, reason: last_error })}</p>
  )
}
