import { TriangleAlert } from 'lucide-react'
import type { VirtualWarning } from '../../../contract/api/virtual-model.ts'
import { useText } from '../../lib/text.ts'

/** The warnings about a virtual model, one per line. */
export function Warnings({ warnings }: { warnings: readonly VirtualWarning[] }) {
  const t = useText()
  return warnings.map(({ kind, model, group }) => (
    <p key={`${kind} ${model} ${group}`} className="flex items-start gap-1.5 text-sm break-words text-warn">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      {group === '' ? t(`virtual.warning.${kind}`, { model }) : t(`virtual.warning.${kind}.in`, { model, group })}
    </p>
  ))
}
