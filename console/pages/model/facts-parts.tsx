import type { ReactNode } from 'react'
import type { Modality, ModelFigures } from '../../../contract/api/model.ts'
import { formatCount, formatPercent, formatSum } from '../../lib/format.ts'
import type { Text } from '../../lib/text.ts'
import type { CatalogueRow } from './rows.ts'

/** The names of modalities, such as "text, images". */
export function modalitiesText(modalities: readonly Modality[], t: Text): string {
  return modalities.map((each) => t(`model.modality.${each}`)).join(', ')
}

/** The median time to the first byte. */
export function firstByteText(ms: number, t: Text): string {
  return ms < 1000 ? t('model.firstByte.ms', { ms }) : t('model.firstByte.s', { seconds: (ms / 1000).toFixed(1) })
}

/** The speed of a model's responses. */
export function speedText(speed: number, t: Text): string {
  return t('model.speed.value', { tokens: speed < 10 ? speed.toFixed(1) : Math.round(speed) })
}

/** The uptime of a model, as a percentage with at most one decimal. */
export function uptimeText(uptime: number): string {
  return formatPercent(uptime / 100, uptime === 100 ? 0 : 1)
}

/** A fact or a measured figure with its label. */
export interface Line {
  id: string
  label: string
  text: ReactNode
}

const present = (lines: readonly (Line | undefined)[]) => lines.filter((line) => line !== undefined)

/** The published facts about a model, from the server's model registry. */
export function factLines({ facts }: CatalogueRow, t: Text): Line[] {
  if (!facts) return []
  const { context, output, knowledge, released, reads, writes } = facts
  const yes = (value: boolean) => t(value ? 'model.yes' : 'model.no')
  return present([
    context === undefined ? undefined : { id: 'context', label: t('model.context'), text: formatCount(context) },
    output === undefined ? undefined : { id: 'output', label: t('model.maxOutput'), text: formatCount(output) },
    { id: 'reads', label: t('model.reads'), text: modalitiesText(reads, t) },
    { id: 'writes', label: t('model.writes'), text: modalitiesText(writes, t) },
    { id: 'tools', label: t('model.ability.tools'), text: yes(facts.tools) },
    { id: 'reasoning', label: t('model.ability.reasoning'), text: yes(facts.reasoning) },
    { id: 'open', label: t('model.ability.open_weights'), text: yes(facts.open_weights) },
    knowledge === undefined ? undefined : { id: 'knowledge', label: t('model.knowledge'), text: knowledge },
    released === undefined ? undefined : { id: 'released', label: t('model.released'), text: released },
  ])
}

/** The figures that this installation measured. */
export function figureLines(figures: ModelFigures | undefined, t: Text): Line[] {
  if (!figures) return []
  const { first_byte, speed, uptime, spent } = figures
  return present([
    first_byte === null
      ? undefined
      : { id: 'firstByte', label: t('model.firstByte'), text: firstByteText(first_byte, t) },
    speed === null ? undefined : { id: 'speed', label: t('model.speed'), text: speedText(speed, t) },
    uptime === null ? undefined : { id: 'uptime', label: t('model.uptime'), text: uptimeText(uptime) },
    { id: 'spent', label: t('model.spent'), text: formatSum(spent) },
  ])
}
