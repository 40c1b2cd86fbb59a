import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button, buttonClass } from '../../components/ui/button.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { selfQuery } from '../../lib/self.ts'
import { isAdmin, type SessionUser } from '../../lib/session.ts'
import { useServerStatus } from '../../lib/status.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { useText } from '../../lib/text.ts'
import { channelsQuery, hasCallQuery, hasTokenQuery, unpricedQuery } from './queries.ts'

type StepId = 'address' | 'channel' | 'test' | 'prices' | 'quota' | 'mail' | 'token' | 'call'

interface Step {
  id: StepId
  to: string
  search?: Record<string, string>
  hash?: string
  /** Whether the step is done; undefined while this is not known. */
  done: boolean | undefined
}

/**
 * The steps needed before calls can be made. A step is ticked automatically when it is done. The list disappears
 * permanently when all steps are done or the user dismisses it.
 */
export function FirstSteps({ user }: { user: SessionUser }) {
  const key = `ui.start.${user.id}` as const
  const [stored, setStored] = useState(() => readStored(key))
  if (stored !== undefined && stored !== flowing) return null
  const dismiss = () => {
    writeStored(key, 'dismissed')
    setStored('dismissed')
  }
  return (
    <Steps
      user={user}
      wasFlowing={stored === flowing}
      onDismiss={dismiss}
      onFlow={() => writeStored(key, flowing)}
      onFinish={() => writeStored(key, 'done')}
    />
  )
}

/** Stored once a call has been made. From then on, the list is only one line, even while the steps are loading. */
const flowing = 'flowing'

interface StepsProps {
  user: SessionUser
  wasFlowing: boolean
  onDismiss(): void
  onFlow(): void
  onFinish(): void
}

function Steps({ user, wasFlowing, onDismiss, onFlow, onFinish }: StepsProps) {
  const t = useText()
  const steps = useSteps(user, wasFlowing)
  const known = steps.every((step) => step.done !== undefined)
  const done = steps.filter((step) => step.done).length
  const finished = known && done === steps.length
  // If all steps are already done when the page opens, the list is not shown. If the last step is ticked while the user
  // watches, the list stays.
  const shown = useRef(false)
  shown.current ||= known && !finished
  // Once a call has been made, one line is enough for the remaining steps.
  const call = steps.find(({ id }) => id === 'call')?.done
  const reached = finished ? onFinish : known && call ? onFlow : undefined
  const reach = useRef(reached)
  reach.current = reached
  const name = finished ? 'finished' : known && call ? 'flowing' : 'open'
  useEffect(() => {
    if (name !== 'open') reach.current?.()
  }, [name])
  const opened = useRef<'short' | 'full' | undefined>(undefined)
  if (known) opened.current ??= call ? 'short' : 'full'
  const [whole, setWhole] = useState(false)
  if (finished && !shown.current) return null
  // While the steps are loading, the single line reserves the height that it has on most installations.
  if (opened.current !== 'full' && !whole)
    return <OneLine steps={known ? steps : undefined} done={done} onShow={() => setWhole(true)} onDismiss={onDismiss} />
  return (
    <Card
      title={t('home.steps')}
      actions={
        <span className="flex items-center gap-2 text-sm text-muted">
          <span role="status">{known && t('home.steps.progress', { done, all: steps.length })}</span>
          <IconButton label={t('home.steps.dismiss')} icon={<X />} onClick={onDismiss} />
        </span>
      }
    >
      <ul className="-my-2 divide-y divide-line">
        {steps.map((step) => (
          <StepLine key={step.id} step={step} />
        ))}
      </ul>
      {finished && <p className="mt-4 text-sm text-good">{t('home.steps.finished')}</p>}
    </Card>
  )
}

/** The steps in one line: how many are done, and which is next. Without steps, the line is a placeholder. */
function OneLine(props: { steps: readonly Step[] | undefined; done: number; onShow(): void; onDismiss(): void }) {
  const { steps, done, onShow, onDismiss } = props
  const t = useText()
  const next = steps?.find((step) => step.done === false)
  return (
    <section
      aria-label={t('home.steps')}
      className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-surface px-4 py-1.5 text-sm"
    >
      <span className="font-medium">{t('home.steps')}</span>
      <span className="text-muted max-sm:flex-1">{steps && t('home.steps.progress', { done, all: steps.length })}</span>
      {(next || !steps) && (
        <span className="min-h-5 min-w-0 flex-1 truncate max-sm:order-last max-sm:basis-full">
          {next && t('home.steps.next', { step: t(`home.step.${next.id}`) })}
        </span>
      )}
      <Button look="quiet" size="small" onClick={onShow}>
        {t('home.steps.show')}
      </Button>
      <IconButton label={t('home.steps.dismiss')} icon={<X />} onClick={onDismiss} />
    </section>
  )
}

function StepLine({ step }: { step: Step }) {
  const t = useText()
  const { id, done } = step
  return (
    <li className="flex min-h-13 items-center gap-3 py-1.5" data-done={done}>
      {done ? (
        <CircleCheck className="size-4.5 shrink-0 text-good" aria-hidden="true" />
      ) : (
        <Circle className="size-4.5 shrink-0 text-muted" aria-hidden="true" />
      )}
      <span className="min-w-0 flex-1">
        <span className={`block text-sm font-medium ${done ? 'text-muted line-through' : ''}`}>
          {t(`home.step.${id}`)}
          <span className="sr-only"> ({t(done ? 'home.step.done' : 'home.step.open')})</span>
        </span>
        <span className="block text-sm text-muted">{t(`home.step.${id}.why`)}</span>
      </span>
      {done === undefined && <Skeleton className="h-7 w-24" />}
      {done === false && (
        <Link
          to={step.to}
          search={step.search ?? {}}
          {...(step.hash !== undefined && { hash: step.hash })}
          className={buttonClass({ size: 'small' })}
        >
          {t(`home.step.${id}.do`)}
        </Link>
      )}
    </li>
  )
}

function useSteps(user: SessionUser, wasFlowing: boolean): Step[] {
  const admin = isAdmin(user)
  const { server_address, email_verification } = useServerStatus()
  const channels = useQuery({ ...channelsQuery, enabled: admin })
  const self = useQuery(selfQuery)
  const unpriced = useQuery({ ...unpricedQuery, enabled: admin })
  const token = useQuery(hasTokenQuery)
  const call = useQuery(hasCallQuery(admin))
  // If a step's state cannot be loaded, the step counts as not done or, if a call was made earlier, as unknown.
  const of = <T,>(query: { data: T | undefined; isError: boolean }, done: (data: T) => boolean) =>
    query.data === undefined ? (query.isError && !wasFlowing ? false : undefined) : done(query.data)
  const both: Step[] = [
    { id: 'token', to: '/token/add', done: of(token, Boolean) },
    { id: 'call', to: '/playground', done: of(call, Boolean) },
  ]
  if (!admin) {
    const funded = of(self, ({ quota, used_quota }) => quota > 0 || used_quota > 0)
    // If the installation sends emails, an account with an email address can have its password reset.
    const mail: Step = { id: 'mail', to: '/setting', done: of(self, ({ email }) => email !== '') }
    return [{ id: 'quota', to: '/topup', done: funded }, ...(email_verification ? [mail] : []), ...both]
  }
  return [
    { id: 'channel', to: '/channel/add', done: of(channels, ({ any }) => any) },
    { id: 'test', to: '/channel', done: of(channels, ({ tested }) => tested) },
    // Most models have a price, so setting prices is a step only if a model lacks one.
    ...(unpriced.data === true
      ? [{ id: 'prices' as const, to: '/setting', search: { tab: 'operation' }, hash: 'ratios', done: false }]
      : []),
    ...both,
    // This step is last, because the first request works without it.
    { id: 'address', to: '/setting', search: { tab: 'system' }, done: Boolean(server_address) },
  ]
}
