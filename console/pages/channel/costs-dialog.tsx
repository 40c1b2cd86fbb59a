import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import type { ChannelCosts, ModelCost } from '../../../contract/api/channel-costs.ts'
import { channelCostsApi } from '../../../contract/api/channel-costs.ts'
import { Button } from '../../components/ui/button.tsx'
import { Dialog } from '../../components/ui/dialog.tsx'
import { IconButton } from '../../components/ui/icon-button.tsx'
import { Input } from '../../components/ui/input.tsx'
import { call } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { useFocusInPlace } from '../../lib/use-focus-in-place.ts'
import { type Chosen, CostsImport } from './costs-import.tsx'
import { costsQuery } from './costs-query.ts'

const rates = ['input', 'output', 'cached', 'request'] as const

type Rate = (typeof rates)[number]

/** A line of the table. Its numbers are texts as typed; the other fields of the cost are kept in `kept`. */
type Line = { model: string; kept: ModelCost } & Record<Rate, string>

const textOf = (value: number | null | undefined) => (value === null || value === undefined ? '' : String(value))

function lineOf(model: string, cost: ModelCost): Line {
  const { input, output, cached, request } = cost
  return {
    model,
    kept: cost,
    input: textOf(input),
    output: textOf(output),
    cached: textOf(cached),
    request: textOf(request),
  }
}

const linesOf = (models: ChannelCosts['models']) => Object.entries(models).map(([model, cost]) => lineOf(model, cost))

function costOf(line: Line): ModelCost {
  const cost: ModelCost = { ...line.kept }
  for (const rate of rates) {
    if (line[rate].trim() === '') delete cost[rate]
    else cost[rate] = Number(line[rate])
  }
  // A multiplier is removed if prices were typed.
  if (rates.some((rate) => cost[rate] !== undefined)) delete cost.multiplier
  return cost
}

interface CostsDialogProps {
  id: number
  name: string
  costs: ChannelCosts
  onClose(): void
}

/** Changes what a channel's upstream charges: by hand, or from a price list. */
export function CostsDialog({ id, name, costs, onClose }: CostsDialogProps) {
  const t = useText()
  const [multiplier, setMultiplier] = useState(textOf(costs.multiplier))
  const [lines, setLines] = useState(() => linesOf(costs.models))
  const [chosen, setChosen] = useState<Chosen>()
  const [busy, setBusy] = useState(false)
  const inPlace = useFocusInPlace()
  const hintId = useId()
  const save = async () => {
    setBusy(true)
    try {
      const named = lines.filter((line) => line.model.trim() !== '')
      const body = {
        multiplier: multiplier.trim() === '' ? null : Number(multiplier),
        models: Object.fromEntries(named.map((line) => [line.model.trim(), costOf(line)])),
        ...(chosen && { source: { kind: chosen.kind, url: chosen.url }, confirmed: chosen.confirmed }),
      }
      const saved = await call(channelCostsApi.setCosts, { params: { id }, body })
      queryClient.setQueryData(costsQuery(id).queryKey, saved.costs)
      toast.success(t('carry.costs.saved'))
      if (saved.held.length > 0) toast.info(t('carry.costs.kept', { names: saved.held.join(', ') }))
      onClose()
    } catch {
      // The call has already shown the error.
    }
    setBusy(false)
  }
  const edit = (index: number, change: Partial<Line>) =>
    setLines(lines.map((line, at) => (at === index ? { ...line, ...change } : line)))
  const take = (next: Chosen) => {
    setChosen(next)
    const others = lines.filter(({ model }) => !Object.hasOwn(next.models, model))
    setLines([...others, ...linesOf(next.models)])
  }
  return (
    <Dialog
      open
      onClose={onClose}
      width="large"
      title={t('carry.costs.of', { name })}
      text={t('carry.costs.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('do.cancel')}</Button>
          <Button look="primary" busy={busy} onClick={() => void save()}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div {...inPlace} className="flex flex-col gap-4">
        <label className="flex flex-col gap-1 text-sm font-medium">
          {t('carry.costs.multiplier')}
          <Input
            inputMode="decimal"
            type="number"
            min={0}
            step="any"
            className="max-w-40"
            value={multiplier}
            aria-describedby={`${hintId}-multiplier`}
            onChange={(event) => setMultiplier(event.target.value)}
          />
        </label>
        <p id={`${hintId}-multiplier`} className="-mt-3 text-sm text-muted">
          {t('carry.costs.multiplier.hint')}
        </p>
        <Lines lines={lines} onEdit={edit} onRemove={(index) => setLines(lines.filter((_, at) => at !== index))} />
        <Button
          size="small"
          className="self-start"
          icon={<Plus />}
          onClick={() => setLines([...lines, lineOf('', {})])}
        >
          {t('carry.costs.add')}
        </Button>
        <CostsImport id={id} onTake={take} />
      </div>
    </Dialog>
  )
}

function Lines(props: {
  lines: readonly Line[]
  onEdit(index: number, change: Partial<Line>): void
  onRemove(index: number): void
}) {
  const t = useText()
  const { lines, onEdit, onRemove } = props
  if (lines.length === 0) return null
  return (
    <div className="max-h-72 overflow-auto" tabIndex={-1}>
      <table className="w-full min-w-136 text-sm">
        <caption className="pb-1 text-start text-muted">{t('carry.costs.unit')}</caption>
        <thead>
          <tr className="text-start text-muted">
            {(['model', ...rates] as const).map((name) => (
              <th key={name} scope="col" className="px-1 pb-1 text-start font-medium">
                {t(`carry.costs.${name}`)}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have only positions; names change while typed
            <tr key={index}>
              <td className="px-1 py-1">
                <Input
                  aria-label={t('carry.costs.model')}
                  value={line.model}
                  spellCheck={false}
                  onChange={(event) => onEdit(index, { model: event.target.value })}
                />
              </td>
              {rates.map((rate) => (
                <td key={rate} className="w-24 px-1 py-1">
                  <Input
                    aria-label={`${line.model} ${t(`carry.costs.${rate}`)}`.trim()}
                    type="number"
                    min={0}
                    step="any"
                    value={line[rate]}
                    onChange={(event) => onEdit(index, { [rate]: event.target.value })}
                  />
                </td>
              ))}
              <td>
                <IconButton
                  label={t('carry.costs.remove', { model: line.model })}
                  icon={<X />}
                  onClick={() => onRemove(index)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
