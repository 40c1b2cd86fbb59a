import { useEffect, useState } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import type { Channel } from '../../../contract/api/channel.ts'
import type { ProbeReport } from '../../../contract/api/channel-probe.ts'
import { newTry } from '../../components/form/new-try.ts'
import { showAtField } from '../../components/form/refusal.ts'
import { text } from '../../lib/text.ts'
import { carriedBody, carryProblems } from './carry-values.ts'
import { type ChannelValues, channelBody, isMapping } from './form-values.ts'
import { probeChannel } from './queries.ts'

export type ProbeState = 'running' | ProbeReport | undefined

/** The test of the channel in the form, before it is saved. */
export interface ProbeControl {
  state: ProbeState
  /** Tests the form's values; returns the report, or undefined if there was no test. */
  run(): Promise<ProbeReport | undefined>
}

/** The fields that determine where a call is sent. A report becomes invalid when one of them changes. */
const decisive: readonly string[] = ['type', 'key', 'base_url', 'other']

export function useProbe(form: UseFormReturn<ChannelValues>, channel: Channel | undefined): ProbeControl {
  const [state, setState] = useState<ProbeState>()
  useEffect(() => {
    const { unsubscribe } = form.watch((_values, { name }) => {
      if (name !== undefined && decisive.includes(name)) setState((now) => (now === 'running' ? now : undefined))
    })
    return unsubscribe
  }, [form])
  const run = async (): Promise<ProbeReport | undefined> => {
    const values = form.getValues()
    if (!channel && values.key.trim() === '') {
      form.setError('key', { message: text('channel.form.enterKey') })
      form.setFocus('key')
      return undefined
    }
    newTry(form.control)
    setState('running')
    try {
      const report = await probeChannel(bodyOf(values, channel))
      setState(report)
      return report
    } catch (error) {
      setState(undefined)
      showAtField(form, error)
      return undefined
    }
  }
  return { state, run }
}

/** Fields that a test does not need are omitted. */
function probedOf({ tags: _tags, remark: _remark, ...probed }: Record<string, unknown>) {
  return probed
}

function bodyOf(values: ChannelValues, channel: Channel | undefined) {
  const { type, key = '', base_url, other, config, models, model_mapping } = channelBody(values, channel)
  return {
    ...(channel && { id: channel.id }),
    ...{ type, key, base_url, other, config, models },
    // A mapping that is still being typed must not prevent the test of the key.
    model_mapping: isMapping(model_mapping) ? model_mapping : '',
    ...(carryProblems(values).length === 0 && probedOf(carriedBody(values, channel))),
  }
}
