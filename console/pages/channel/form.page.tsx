import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useRouter } from '@tanstack/react-router'
import { Suspense, useEffect, useState } from 'react'
import type { Channel } from '../../../contract/api/channel.ts'
import { Form } from '../../components/form/form.tsx'
import { newTry } from '../../components/form/new-try.ts'
import { showAtField } from '../../components/form/refusal.ts'
import { useAppForm } from '../../components/form/use-app-form.ts'
import { Banner } from '../../components/ui/banner.tsx'
import { buttonClass } from '../../components/ui/button.tsx'
import { Page } from '../../components/ui/page.tsx'
import { ErrorState, FieldsSkeleton, Skeleton } from '../../components/ui/states.tsx'
import { useCrumb } from '../../lib/crumb.ts'
import { lazy } from '../../lib/lazy.ts'
import { useClassicServer } from '../../lib/status.ts'
import { loadAreas, text, useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { wayBack } from '../../lib/way-back.ts'
import { AdvancedFold } from './advanced-fold.tsx'
import { ChannelState } from './channel-state.tsx'
import { CredentialsSection } from './credentials-section.tsx'
import { ChannelFormFooter, type TestState } from './form-footer.tsx'
import { type ChannelValues, channelBody, channelFormSchema, channelValues, problemsOf } from './form-values.ts'
import { ModelsSection } from './models-section.tsx'
import { ProviderSection } from './provider-section.tsx'
import { channelQuery, createChannel, testChannel, updateChannel } from './queries.ts'
import { useProbe } from './use-probe.ts'

/** Loaded on demand, because it belongs to the advanced settings, which are folded at first. */
const MappingField = lazy(() => import('./mapping-field.tsx').then((it) => ({ default: it.MappingField })))

const LimitsField = lazy(() => import('./limits-field.tsx').then((it) => ({ default: it.LimitsField })))
const AdvancedSection = lazy(() => import('./advanced-section.tsx').then((it) => ({ default: it.AdvancedSection })))
const CarrySection = lazy(async () => {
  const [it] = await Promise.all([import('./carry-section.tsx'), loadAreas(['carry'])])
  return { default: it.CarrySection }
})

/** `/channel/add` and `/channel/edit/{id}`. */
export function ChannelFormPage() {
  const t = useText()
  const { id } = useParams({ strict: false })
  return (
    <Page title={t(id === undefined ? 'channel.addTitle' : 'channel.editTitle')} width="narrow">
      {id === undefined ? <ChannelForm /> : <EditChannel id={id} />}
    </Page>
  )
}

function EditChannel({ id }: { id: string }) {
  const t = useText()
  const query = useQuery({ ...channelQuery(id), staleTime: 0, gcTime: 0 })
  // Waits for a fresh copy, because another page may have fetched the channel a while ago. A form that starts with an
  // old balance would overwrite the current one.
  if (query.isPending || !query.isFetchedAfterMount) return <FieldsSkeleton className="h-[44rem]" />
  if (query.isError) {
    return (
      <ErrorState title={t('channel.notFound')} text={query.error.message} onRetry={() => void query.refetch()}>
        <Link {...wayBack('/channel')} className={buttonClass()}>
          {t('do.back')}
        </Link>
      </ErrorState>
    )
  }
  return (
    <>
      {query.data.managed_by && (
        <div className="mb-4">
          <Banner kind="warn" title={t('channel.managed.by', { source: query.data.managed_by })}>
            {t('channel.managed.hint')}
          </Banner>
        </div>
      )}
      <ChannelState channel={query.data} />
      <ChannelForm channel={query.data} />
    </>
  )
}

/**
 * The test result of a channel that was just created. The result is shown on the page where the new channel is edited.
 */
let tested: { id: number; test: TestState } | undefined

function ChannelForm({ channel }: { channel?: Channel }) {
  const t = useText()
  useCrumb(channel?.name ?? '', channel?.id)
  const navigate = useNavigate()
  const router = useRouter()
  const form = useAppForm<ChannelValues>({ schema: channelFormSchema, values: channelValues(channel) })
  const [test, setTest] = useState(() => (tested && tested.id === channel?.id ? tested.test : undefined))
  useEffect(() => {
    tested = undefined
  }, [])
  const classic = useClassicServer()
  const probe = useProbe(form, channel)

  /**
   * Saves the form. Returns the channel's id, or undefined if the server does not report an id or nothing was saved.
   */
  const save = async (values: ChannelValues): Promise<number | undefined> => {
    const problems = problemsOf(values, channel === undefined)
    const [first] = problems
    if (first) {
      toast.info(t(first.message))
      for (const { field, atField } of problems) form.setError(field, { message: text(atField) })
      form.setFocus(first.field)
      return undefined
    }
    const body = channelBody(values, channel)
    if (channel) {
      await updateChannel({ id: channel.id, ...body })
      form.reset({ ...values, key: '', proxy_login: '' })
      toast.success(t('channel.form.updated'))
      return channel.id
    }
    const { key_append: _append, ...created } = { key_append: false, ...body }
    const [id] = await createChannel(created)
    // The values are saved, so the user can leave without losing anything.
    form.reset(values)
    toast.success(t('channel.form.created'))
    return id
  }
  const submit = async (values: ChannelValues): Promise<void> => {
    const id = await save(values)
    if (id !== undefined && !channel) form.reset(channelValues())
  }
  const saveAndTest = form.handleSubmit(async (values) => {
    newTry(form.control)
    const here = router.latestLocation.pathname
    setTest({ state: 'running' })
    let id: number | undefined
    let result: TestState
    try {
      id = await save(values)
      if (id === undefined) return setTest(undefined)
      const seconds = await testChannel(id, { quiet: true })
      result = { state: 'ok', seconds }
      if (!channel) toast.info(t('channel.test.done', { name: values.name, seconds: seconds.toFixed(2) }))
    } catch (error) {
      if (id === undefined) {
        setTest(undefined)
        return showAtField(form, error)
      }
      result = { state: 'failed', message: error instanceof Error ? error.message : String(error) }
    }
    setTest(result)
    if (channel) return
    // If the user went to another page while the test ran, the user stays there.
    if (router.latestLocation.pathname !== here) return
    // The channel exists, whatever the result of its test. Saving this form again would create a second channel.
    tested = { id, test: result }
    await navigate({ to: '/channel/edit/$id', params: { id: String(id) }, replace: true })
  })
  return (
    <div className="rounded-lg border border-line bg-surface px-4 pt-4">
      <Form form={form} label={t(channel ? 'channel.editTitle' : 'channel.addTitle')} onSubmit={submit}>
        <ProviderSection form={form} isNew={channel === undefined} />
        <CredentialsSection form={form} channel={channel} probe={probe} />
        <ModelsSection form={form} channel={channel} probe={probe} />
        <AdvancedFold form={form}>
          <Suspense fallback={<Skeleton className="h-24 w-full" />}>
            <MappingField form={form} />
          </Suspense>
          {!classic && (
            <Suspense fallback={<Skeleton className="h-24 w-full" />}>
              <LimitsField form={form} />
            </Suspense>
          )}
          {!classic && (
            <Suspense fallback={<FieldsSkeleton className="h-96" />}>
              <AdvancedSection form={form} />
              <CarrySection form={form} channel={channel} />
            </Suspense>
          )}
        </AdvancedFold>
        <ChannelFormFooter
          busy={form.formState.isSubmitting}
          test={test}
          onTest={() => void saveAndTest()}
          onCancel={() => void navigate(wayBack('/channel'))}
        />
      </Form>
    </div>
  )
}
