import { Suspense, useDeferredValue } from 'react'
import { Textarea } from '../../components/ui/input.tsx'
import { Skeleton } from '../../components/ui/states.tsx'
import { lazy } from '../../lib/lazy.ts'
import { useText } from '../../lib/text.ts'
import type { ControlProps } from './control-props.ts'
import { optionName } from './option-names.ts'

const SafeHtml = lazy(() => import('../../components/safe-html.tsx').then((it) => ({ default: it.SafeHtml })))
/** These options may contain a URL instead of text; the page at that URL is shown in a frame. */
const framed = ['About', 'HomePageContent']

const previewClass = 'max-h-80 min-h-24 overflow-auto rounded-md border border-dashed border-line bg-bg p-3 text-sm'

/** A text for visitors, with a preview beside it. */
export function PageText({ option, form, id, describedBy, invalid, disabled }: ControlProps) {
  const t = useText()
  const value = form.shown(option)
  const shown = useDeferredValue(value)
  return (
    <div className="grid gap-3 md:grid-cols-2">
      <Textarea
        id={id}
        rows={8}
        value={value}
        disabled={disabled}
        aria-describedby={describedBy}
        aria-invalid={invalid || undefined}
        onChange={(event) => form.type(option.key, event.target.value)}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to reach a scrollable region */}
      <section aria-label={t('setting.preview', { name: optionName(option) })} tabIndex={0} className={previewClass}>
        <Preview source={shown} frame={framed.includes(option.key) && shown.startsWith('https://')} />
      </section>
    </div>
  )
}

function Preview({ source, frame }: { source: string; frame: boolean }) {
  const t = useText()
  if (source.trim() === '') return <p className="text-muted">{t('setting.preview.empty')}</p>
  if (frame) {
    return (
      <>
        <p className="text-muted">{t('setting.preview.frame')}</p>
        <code className="break-all">{source.trim()}</code>
      </>
    )
  }
  return (
    <Suspense fallback={<Skeleton className="h-16 w-full" />}>
      <div data-verbatim>
        <SafeHtml source={source} />
      </div>
    </Suspense>
  )
}
