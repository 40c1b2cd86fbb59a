import { FormFooter } from '../../components/form/form.tsx'
import { Banner } from '../../components/ui/banner.tsx'
import { Button } from '../../components/ui/button.tsx'
import { useText } from '../../lib/text.ts'

/** The state of the test that runs after saving. */
export type TestState = { state: 'running' } | { state: 'ok'; seconds: number } | { state: 'failed'; message: string }

interface ChannelFormFooterProps {
  busy: boolean
  test: TestState | undefined
  onTest(): void
  onCancel(): void
}

/** The footer of the channel form, with its test result; it stays visible while scrolling. */
export function ChannelFormFooter({ busy, test, onTest, onCancel }: ChannelFormFooterProps) {
  const t = useText()
  return (
    <FormFooter submit={t('do.submit')} busy={busy && test?.state !== 'running'} onCancel={onCancel}>
      <div className="grid justify-items-start gap-2">
        {test?.state === 'ok' && (
          <Banner kind="good" live>
            {t('channel.form.tested', { seconds: test.seconds.toFixed(2) })}
          </Banner>
        )}
        {test?.state === 'failed' && (
          <Banner kind="bad" live title={t('channel.form.testFailed')}>
            {test.message}
          </Banner>
        )}
        <Button busy={test?.state === 'running'} disabled={busy} onClick={onTest}>
          {test?.state === 'running' ? t('channel.form.testing') : t('channel.form.saveAndTest')}
        </Button>
      </div>
    </FormFooter>
  )
}
