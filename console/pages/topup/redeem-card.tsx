import { ExternalLink } from 'lucide-react'
import { useId, useState } from 'react'
import { useTries } from '../../components/form/new-try.ts'
import { Status } from '../../components/ui/badge.tsx'
import { Button } from '../../components/ui/button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { Card } from '../../components/ui/page.tsx'
import { CallError } from '../../lib/call.ts'
import { useFormatQuota } from '../../lib/format.ts'
import { useServerStatus } from '../../lib/status.ts'
import { useText } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { redeem } from './queries.ts'

/** The result for one code. */
interface Result {
  code: string
  /** Quota added; undefined if the code was refused. */
  added?: number
  reason?: string
}

const codesOf = (text: string) => [...new Set(text.split(/[\s,;]+/).filter((code) => code !== ''))]

/** The box for codes. Several codes are redeemed one after the other; refused codes stay in the box. */
export function RedeemCard() {
  const t = useText()
  const id = useId()
  const [text, setText] = useState('')
  const { results, done, run } = useRedeem()
  const codes = codesOf(text)
  const busy = done !== undefined
  const hasResults = results.length > 1 || results[0]?.reason !== undefined
  const isRefused = hasResults && results.some(({ reason }) => reason !== undefined)
  const submit = async () => {
    if (codes.length === 0) return void toast.info(t('topup.noCode'))
    setText((await run(codes)).join('\n'))
  }
  return (
    <Card>
      <form
        aria-label={t('topup.title')}
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void submit()
        }}
      >
        <label htmlFor={id} className="text-sm font-medium">
          {t('topup.codes')}
        </label>
        <Textarea
          id={id}
          value={text}
          rows={Math.min(8, Math.max(2, codes.length + 1))}
          placeholder={t('topup.codes.placeholder')}
          spellCheck={false}
          autoComplete="off"
          readOnly={busy}
          aria-invalid={isRefused || undefined}
          aria-describedby={hasResults ? `${id}-results` : undefined}
          className="font-mono"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            // Users usually redeem a single code, so Enter submits; Shift+Enter starts a new line.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
        />
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" busy={busy}>
            {busy
              ? t('topup.redeeming', { done: done + 1, count: codes.length })
              : codes.length > 1
                ? t('topup.redeemMany', { count: codes.length })
                : t('topup.redeem')}
          </Button>
          <GetCode />
        </div>
      </form>
      {hasResults && <Results id={`${id}-results`} results={results} />}
    </Card>
  )
}

/** Redeems codes one after the other; returns the refused codes. */
function useRedeem() {
  const t = useText()
  const newTry = useTries()
  const [results, setResults] = useState<Result[]>([])
  const [done, setDone] = useState<number>()
  const run = async (codes: readonly string[]): Promise<string[]> => {
    newTry()
    const found: Result[] = []
    for (const [index, code] of codes.entries()) {
      setDone(index)
      try {
        found.push({ code, added: await redeem(code) })
      } catch (error) {
        const refused = error instanceof CallError && error.kind !== 'network'
        const reason = refused ? error.message : t('topup.failed')
        found.push({ code, reason })
        toast.error(reason)
      }
    }
    setDone(undefined)
    setResults(found)
    if (found.some(({ added }) => added !== undefined)) toast.success(t('topup.done'))
    return found.filter(({ added }) => added === undefined).map(({ code }) => code)
  }
  return { results, done, run }
}

function GetCode() {
  const t = useText()
  const { top_up_link } = useServerStatus()
  const open = () => {
    if (top_up_link) window.open(top_up_link, '_blank', 'noopener')
    else toast.error(t('topup.noLink'))
  }
  return (
    <Button icon={<ExternalLink />} onClick={open}>
      {t('topup.get')}
    </Button>
  )
}

function Results({ id, results }: { id: string; results: readonly Result[] }) {
  const t = useText()
  const formatQuota = useFormatQuota()
  return (
    <section id={id} aria-label={t('topup.results')} className="mt-4 border-t border-line pt-3">
      <ul className="flex flex-col gap-1.5 text-sm">
        {results.map(({ code, added, reason }) => (
          <li key={code} className="flex flex-wrap items-center gap-x-3">
            <code className="font-mono text-xs break-all text-muted">{code}</code>
            {added === undefined ? (
              <>
                <Status color="red">{t('topup.result.failed')}</Status>
                <span className="text-muted">{reason}</span>
              </>
            ) : (
              <Status color="green">{t('topup.result.ok', { quota: formatQuota(added) })}</Status>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
