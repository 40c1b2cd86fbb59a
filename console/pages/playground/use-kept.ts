import { useEffect, useRef, useState } from 'react'
import { queryClient } from '../../lib/query-client.ts'
import { useSessionUser } from '../../lib/session.ts'
import { readStored, writeStored } from '../../lib/storage.ts'
import { text } from '../../lib/text.ts'
import { toast } from '../../lib/toast.ts'
import { deleteKept, type KeptBody, listKept, readHead, writeKept } from './kept-store.ts'
import { isAnswering, type Turn } from './turns.ts'

/** The key of the list of a user's kept conversations. */
export const keptKey = (user: number) => ['kept conversations', user] as const

const titleLength = 60

/** The beginning of the first question, or the name of its first file. */
function titleOf([first]: readonly Turn[]): string {
  const words = (first?.question || first?.attachments[0]?.name || '').replaceAll(/\s+/g, ' ').trim()
  return words.length > titleLength ? `${words.slice(0, titleLength - 1)}…` : words
}

/** Whether conversations are kept in this browser, and which of them is shown. */
export interface Kept {
  user: number
  isOn: boolean
  turnOn(): void
  /** Deletes all kept conversations of the user. */
  turnOff(): Promise<void>
  /** The shown conversation; undefined if it has not been stored. */
  shown: number | undefined
  /** Sets which conversation is shown, with its stored turns; undefined for a new one. */
  show(id: number | undefined, turns?: readonly Turn[]): void
}

/** Stores the conversation after every response, if the user has turned keeping on. */
export function useKept(shownBody: Omit<KeptBody, 'id'>, models: readonly string[]): Kept {
  const user = useSessionUser()?.id ?? 0
  const setting = `ui.playground.keep.${user}` as const
  const [isOn, setOn] = useState(() => readStored(setting) === 'on')
  const [shown, setShown] = useState<number>()
  const { turns } = shownBody
  const isQuiet = turns.length > 0 && !turns.some(({ answers }) => answers.some(isAnswering))
  /**
   * The turns that need no storing: they are stored already, or were passed to the page at the start. A conversation
   * from a recording is stored only once it continues.
   */
  const stored = useRef<readonly Turn[]>(turns)
  const latest = useRef({ ...shownBody, models })
  latest.current = { ...shownBody, models }

  useEffect(() => {
    if (!isOn || !isQuiet || stored.current === turns) return
    stored.current = turns
    const id = shown ?? Date.now()
    if (shown === undefined) setShown(id)
    const { models: named, ...body } = latest.current
    const store = async () => {
      const before = shown === undefined ? undefined : await readHead(id)
      // The conversation was deleted in another tab.
      if (shown !== undefined && !before) return
      const title = before?.title ?? titleOf(turns)
      await writeKept({ id, user, title, changedAt: Date.now(), models: named }, { id, ...body })
      await queryClient.invalidateQueries({ queryKey: keptKey(user) })
    }
    store().catch(() => toast.error(text('playground.kept.failed')))
  }, [isOn, isQuiet, turns, shown, user])

  return {
    user,
    isOn,
    turnOn: () => {
      writeStored(setting, 'on')
      setOn(true)
    },
    turnOff: async () => {
      writeStored(setting, undefined)
      setOn(false)
      setShown(undefined)
      stored.current = []
      await deleteKept((await listKept(user)).map(({ id }) => id))
      await queryClient.invalidateQueries({ queryKey: keptKey(user) })
    },
    shown,
    show: (id, next = []) => {
      stored.current = next
      setShown(id)
    },
  }
}
