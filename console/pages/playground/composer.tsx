import { SendHorizontal, Square } from 'lucide-react'
import { type Ref, useId } from 'react'
import { Button } from '../../components/ui/button.tsx'
import { Textarea } from '../../components/ui/input.tsx'
import { useHotkeys } from '../../lib/hotkeys.ts'
import { useText } from '../../lib/text.ts'

interface ComposerProps {
  /** The text area, for whoever moves the focus there. */
  box: Ref<HTMLTextAreaElement>
  draft: string
  setDraft(draft: string): void
  onSend(): void
  onStop(): void
  /** Whether a response is being received. */
  busy: boolean
  /**
   * Whether the box stays visible while the page is scrolled. In an empty conversation, it would cover the text shown
   * there.
   */
  follows: boolean
  disabled: boolean
}

/** The input box for the next message. */
export function Composer({ box, draft, setDraft, onSend, onStop, busy, follows, disabled }: ComposerProps) {
  const t = useText()
  const id = useId()
  useHotkeys({ 'mod+enter': onSend })
  return (
    <form
      data-at-end="tall"
      className={`bg-bg pt-3 pb-2 ${follows ? 'sticky bottom-0' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
    >
      <label htmlFor={id} className="sr-only">
        {t('playground.message')}
      </label>
      <Textarea
        ref={box}
        id={id}
        rows={3}
        value={draft}
        placeholder={t('playground.placeholder')}
        aria-describedby={`${id}-hint`}
        className="resize-none"
        onChange={(event) => setDraft(event.target.value)}
      />
      <div className="mt-2 flex items-center justify-end gap-3">
        <span id={`${id}-hint`} className="text-sm text-muted">
          {t('playground.hint')}
        </span>
        {busy ? (
          <Button icon={<Square />} onClick={onStop}>
            {t('playground.stop')}
          </Button>
        ) : (
          <Button type="submit" look="primary" icon={<SendHorizontal />} disabled={disabled}>
            {t('playground.send')}
          </Button>
        )}
      </div>
    </form>
  )
}
