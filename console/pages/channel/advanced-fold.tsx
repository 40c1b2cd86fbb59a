import { ChevronRight } from 'lucide-react'
import { type ReactNode, useEffect, useId, useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useText } from '../../lib/text.ts'
import { type ChannelValues, channelValues } from './form-values.ts'

/** The fields in the folded part. */
const advanced = [
  'model_mapping',
  'priority',
  'weight',
  'connect_timeout',
  'first_byte_timeout',
  'first_token_timeout',
  'stream_idle_timeout',
  'relay_timeout',
  'http_version',
  'system_turns',
  'strip_deployment_dots',
  'system_prompt',
  'draining',
  'tags',
  'remark',
  'test_model',
  'organization',
  'project',
  'headers',
  'parameters',
  'status_map',
  'proxy',
] as const satisfies readonly (keyof ChannelValues)[]

/** Whether the field with this path is in the folded part. */
const isHere = (path: string) => path.startsWith('limits.') || advanced.some((name) => name === path)

/** Whether a channel uses any of the advanced settings. */
function isAdvanced(values: ChannelValues): boolean {
  const usual = channelValues()
  return values.limits.length > 0 || advanced.some((name) => values[name] !== usual[name])
}

/**
 * The settings that most channels do not need. The fold is open from the start if the channel uses any of them, and
 * opens when one of them has an error.
 */
export function AdvancedFold({ form, children }: { form: UseFormReturn<ChannelValues>; children: ReactNode }) {
  const t = useText()
  const id = useId()
  const [open, setOpen] = useState(() => isAdvanced(form.getValues()))
  const { errors } = form.formState
  const wrong = Object.keys(errors).find(isHere)
  useEffect(() => {
    if (wrong) setOpen(true)
  }, [wrong])
  // A field with an error gets the focus once the fold is open, unless a field outside the fold must be corrected
  // first.
  const isFirst = wrong !== undefined && Object.keys(errors).every(isHere)
  useEffect(() => {
    const focused = advanced.find((name) => name === wrong)
    if (open && isFirst && focused) form.setFocus(focused)
  }, [open, isFirst, wrong, form])
  return (
    <div className="border-t border-line pt-4">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 rounded-md text-start"
      >
        <ChevronRight className={`size-4 shrink-0 text-muted transition-transform ${open ? 'rotate-90' : ''}`} />
        <span className="text-base font-medium">{t('channel.form.advancedFold')}</span>
        <span className="truncate text-sm text-muted max-sm:hidden">{t('channel.form.advancedFold.text')}</span>
      </button>
      <div id={id} hidden={!open} className={open ? 'flex flex-col gap-5 pt-5' : ''}>
        {children}
      </div>
    </div>
  )
}
