import { useEffect, useRef, useState } from 'react'
import { useServerStatus } from '../lib/status.ts'
import { languageTag, useText } from '../lib/text.ts'
import { useTheme } from '../lib/theme.ts'
import { Banner } from './ui/banner.tsx'
import { Button } from './ui/button.tsx'

const scriptAddress = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'
/** If the widget's script takes longer than this to load, the page reports that it is blocked. */
const scriptLimitMs = 20_000

/** The part of the challenge provider's widget API that the console uses. */
interface Widget {
  render(place: HTMLElement, options: Record<string, unknown>): string
  remove(id: string): void
}

let script: Promise<Widget> | undefined

function loadScript(): Promise<Widget> {
  script ??= new Promise<Widget>((resolve, reject) => {
    const element = document.createElement('script')
    const fail = () => {
      script = undefined
      element.remove()
      reject(new Error('the widget could not be loaded'))
    }
    const timer = setTimeout(fail, scriptLimitMs)
    element.src = scriptAddress
    element.async = true
    element.onerror = fail
    element.onload = () => {
      clearTimeout(timer)
      const widget = (window as { turnstile?: Widget }).turnstile
      if (widget) resolve(widget)
      else fail()
    }
    document.head.append(element)
  })
  return script
}

/** The state of a form's bot check. */
export interface BotCheck {
  /** False if the server does not require the bot check. */
  wanted: boolean
  /** The widget's answer; '' until there is one. */
  answer: string
  setAnswer(answer: string): void
  /** Requests a new answer, because each answer is valid for only one call. */
  renew(): void
  /** The number of times that a new answer was requested. */
  round: number
}

/** Returns the state of a form's bot check, which the form must pass to `<BotCheckWidget>`. */
export function useBotCheck(): BotCheck {
  const { turnstile_check = false } = useServerStatus()
  const [answer, setAnswer] = useState('')
  const [round, setRound] = useState(0)
  return {
    wanted: turnstile_check,
    answer,
    setAnswer,
    round,
    renew() {
      setAnswer('')
      setRound((last) => last + 1)
    },
  }
}

/**
 * The challenge provider's widget; renders nothing if the server does not require it. Its texts are in the messages of
 * the area `form` (console/messages).
 */
export function BotCheckWidget({ check }: { check: BotCheck }) {
  const t = useText()
  const { turnstile_site_key } = useServerStatus()
  const theme = useTheme()
  const place = useRef<HTMLDivElement>(null)
  const [blocked, setBlocked] = useState(false)
  const { wanted, setAnswer, round, renew } = check
  // biome-ignore lint/correctness/useExhaustiveDependencies: each round must render the widget again
  useEffect(() => {
    const element = place.current
    if (!wanted || !element) return
    let gone = false
    let drawn: (() => void) | undefined
    setBlocked(false)
    loadScript().then(
      (widget) => {
        if (gone) return
        const id = widget.render(element, {
          sitekey: turnstile_site_key,
          theme: theme === 'system' ? 'auto' : theme,
          language: languageTag().toLowerCase(),
          callback: setAnswer,
          'expired-callback': () => setAnswer(''),
          'error-callback': () => setBlocked(true),
        })
        drawn = () => widget.remove(id)
      },
      () => {
        if (!gone) setBlocked(true)
      },
    )
    return () => {
      gone = true
      drawn?.()
    }
  }, [wanted, turnstile_site_key, theme, round])
  if (!wanted) return null
  return (
    <div className="flex flex-col gap-2">
      <div ref={place} className={blocked ? 'hidden' : 'min-h-16'} />
      {blocked && (
        <Banner kind="warn" live title={t('form.botCheck.blocked')}>
          <p>{t('form.botCheck.hint')}</p>
          <Button size="small" className="mt-2" onClick={renew}>
            {t('do.retry')}
          </Button>
        </Banner>
      )}
    </div>
  )
}
