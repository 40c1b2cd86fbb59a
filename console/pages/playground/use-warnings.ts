import type { ModelFacts } from '../../../contract/api/model.ts'
import { useText } from '../../lib/text.ts'
import type { Attachment } from './attachments.ts'
import type { Extras } from './request.ts'

interface Sent {
  facts: ReadonlyMap<string, ModelFacts>
  attachments: readonly Attachment[]
  extras: Extras
}

/**
 * Warnings about input that the chosen models are known not to accept. There are no warnings for models about which the
 * server has no facts.
 */
export function useWarnings(models: readonly string[], { facts, attachments, extras }: Sent): string[] {
  const t = useText()
  const has = (kind: Attachment['kind']) => attachments.some((file) => file.kind === kind)
  return [...new Set(models)].flatMap((model) => {
    const known = facts.get(model)
    if (!known) return []
    const { reads, tools } = known
    return [
      ...(has('image') && !reads.includes('image') ? [t('playground.warn.image', { model })] : []),
      ...(has('pdf') && !reads.includes('pdf') ? [t('playground.warn.pdf', { model })] : []),
      ...(extras.tools.length > 0 && !tools ? [t('playground.warn.tools', { model })] : []),
    ]
  })
}
