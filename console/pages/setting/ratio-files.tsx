import { Download, Upload } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { downloadFile } from '../../lib/download.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { brokenJson } from './drafts.ts'
import { parseJson } from './json-text.ts'
import { type RatioKey, type Ratios, ratioKeys, readRatios } from './ratio-draft.ts'
import type { RatioState } from './use-ratios.ts'

/** Exports the ratios of the tables to a file, and imports a file into the tables. An import does not save anything. */
export function RatioFiles({ state }: { state: RatioState }) {
  const t = useText()
  const file = useRef<HTMLInputElement>(null)
  const take = async (source: string) => {
    const value = parseJson(source)
    if (!value) return void toast.error(brokenJson('ModelRatio', ''))
    const found = ratiosIn(value)
    if (found.length === 0) return void toast.error(t('ratio.import.bad'))
    for (const [key, ratios] of found) state.change(key, ratios)
    toast.info(t('ratio.import.done'))
  }
  return (
    <div className="flex flex-wrap gap-2">
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        className="hidden"
        aria-label={t('ratio.import')}
        onChange={(event) => {
          const [chosen] = event.target.files ?? []
          void chosen?.text().then(take)
          // Resetting the value allows the same file to be chosen again.
          event.target.value = ''
        }}
      />
      <Button size="small" icon={<Upload />} disabled={!state.mayWrite} onClick={() => file.current?.click()}>
        {t('ratio.import')}
      </Button>
      <Button
        size="small"
        icon={<Download />}
        disabled={!state.ratios}
        onClick={() => downloadFile('ratios.json', JSON.stringify(state.ratios, null, 2), 'application/json')}
      >
        {t('ratio.export')}
      </Button>
    </div>
  )
}

/** Reads the ratios from a file: either tables keyed by the names of their options, or a single table of models. */
function ratiosIn(value: Readonly<Record<string, unknown>>): (readonly [RatioKey, Ratios])[] {
  const named = ratioKeys.flatMap((key) => {
    const ratios = Object.hasOwn(value, key) ? readRatios(JSON.stringify(value[key])) : undefined
    return ratios ? [[key, ratios] as const] : []
  })
  if (named.length > 0) return named
  const models = readRatios(JSON.stringify(value))
  return models && Object.keys(models).length > 0 ? [['ModelRatio', models]] : []
}
