import { useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useId, useState } from 'react'
import { type DryRun, type DryRunStep, dryRunPaths } from '../../../contract/api/virtual-model.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Input, Textarea } from '../../components/ui/input.tsx'
import { Card } from '../../components/ui/page.tsx'
import { Select } from '../../components/ui/select.tsx'
import { formatCount, useFormatQuota } from '../../lib/format.ts'
import { groupsQuery } from '../../lib/groups.ts'
import { useText } from '../../lib/text.ts'
import { DryRunChannels } from './dry-run-channels.tsx'
import { tryRequest, type VirtualModelBody } from './queries.ts'

/** Shows what would happen to a request with the current state of the form. Nothing is saved, sent or charged. */
export function DryRunPanel({ draft }: { draft(): VirtualModelBody }) {
  const t = useText()
  const id = useId()
  const groups = useQuery(groupsQuery).data ?? ['default']
  const [group, setGroup] = useState('default')
  const [path, setPath] = useState<(typeof dryRunPaths)[number]>(dryRunPaths[0])
  const [token, setToken] = useState('')
  const [request, setRequest] = useState('')
  const [run, setRun] = useState<DryRun>()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const start = async () => {
    const body = objectIn(request)
    setProblem(body ? '' : t('virtual.try.request.wrong'))
    if (!body) return
    setBusy(true)
    // If the call fails, it shows its own error.
    const done = await tryRequest({ draft: draft(), group, token_id: Number(token), path, request: body }).catch(
      () => undefined,
    )
    setBusy(false)
    setRun(done)
  }
  return (
    <Card title={t('virtual.try')} className="mt-4">
      <p className="mb-3 text-sm text-muted">{t('virtual.try.hint')}</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <label className="flex flex-col gap-1 text-sm font-medium" htmlFor={`${id}-group`}>
          {t('virtual.try.group')}
          <Select id={`${id}-group`} value={group} onChange={({ target }) => setGroup(target.value)}>
            {[...new Set([...groups, group])].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </Select>
        </label>
        <label className="flex flex-col gap-1 text-sm font-medium" htmlFor={`${id}-path`}>
          {t('virtual.try.path')}
          <Select
            id={`${id}-path`}
            value={path}
            onChange={({ target }) => setPath(dryRunPaths.find((each) => each === target.value) ?? path)}
          >
            {dryRunPaths.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </Select>
        </label>
      </div>
      <label className="mt-3 flex flex-col gap-1 text-sm font-medium" htmlFor={`${id}-token`}>
        {t('virtual.try.token')}
        <Input
          id={`${id}-token`}
          className="sm:max-w-60"
          inputMode="numeric"
          value={token}
          onChange={({ target }) => setToken(target.value.replace(/\D/g, '').slice(0, 15))}
        />
      </label>
      <label className="mt-3 flex flex-col gap-1 text-sm font-medium" htmlFor={`${id}-request`}>
        {t('virtual.try.request')}
        <Textarea
          id={`${id}-request`}
          className="font-mono text-sm!"
          value={request}
          spellCheck={false}
          placeholder={'{"messages": [{"role": "user", "content": "Hello"}]}'}
          aria-invalid={problem !== '' || undefined}
          aria-describedby={problem === '' ? undefined : `${id}-problem`}
          onChange={({ target }) => setRequest(target.value)}
        />
      </label>
      {problem !== '' && (
        <p id={`${id}-problem`} className="mt-1 text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="mt-3">
        <Button icon={<Play />} busy={busy} onClick={() => void start()}>
          {t('virtual.try.start')}
        </Button>
      </div>
      <div aria-live="polite">{run && <Outcome run={run} />}</div>
    </Card>
  )
}

/** The typed request as an object. An empty text means an empty object. */
function objectIn(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function Outcome({ run }: { run: DryRun }) {
  const t = useText()
  const quota = useFormatQuota()
  const steps = [...run.steps].sort((a, b) => (a.place || run.steps.length + 1) - (b.place || run.steps.length + 1))
  return (
    <div className="mt-4 flex flex-col gap-3">
      {run.refusal ? (
        <Banner kind="bad" title={t('virtual.try.refused')}>
          <p className="break-words">{run.refusal.message}</p>
        </Banner>
      ) : (
        <p className="text-sm">
          {t('virtual.try.hold', { hold: quota(run.hold, 6), tokens: formatCount(run.prompt_tokens) })}
        </p>
      )}
      {steps.map((step) => (
        <Step key={`${step.model} ${step.group}`} step={step} />
      ))}
    </div>
  )
}

function Step({ step }: { step: DryRunStep }) {
  const t = useText()
  const { model, group, place, detail, failures, channels } = step
  const title = place > 0 ? `${place}. ${model}` : model
  return (
    <section aria-label={title} className="rounded-md border border-line">
      <div className="border-b border-line px-3 py-2">
        <h3 className="font-medium break-words">{title}</h3>
        <p className="text-sm break-words text-muted">{t('virtual.try.group.of', { group })}</p>
        {detail !== '' && <p className="text-sm break-words text-warn">{t('virtual.try.skipped', { why: detail })}</p>}
        {failures.length > 0 && (
          <p className="text-sm text-muted">
            {t('virtual.try.failures', { failures: failures.map((each) => t(`virtual.failure.${each}`)).join(', ') })}
          </p>
        )}
        {step.fixed_price && <p className="text-sm text-muted">{t('virtual.fixedPrice')}</p>}
      </div>
      {channels.length === 0 ? (
        <p className="px-3 py-2 text-sm text-muted">{t('virtual.try.noChannel')}</p>
      ) : (
        <DryRunChannels channels={channels} />
      )}
    </section>
  )
}
