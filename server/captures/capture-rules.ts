import { longestCaptureSeconds } from '../../contract/api/capture.ts'
import { type Clock, epochSeconds } from '../lib/clock.ts'
import { type CaptureRuleRow, runningCaptureRules } from '../store/installation/captures.ts'
import type { Store } from '../store/store.ts'

/** The rules that currently apply on this node. */
export interface CaptureRules {
  /** False if there are no rules. Calls check it first, because it is fast to read. */
  readonly isRecording: boolean
  /** The rules that have not ended. */
  running(): readonly CaptureRuleRow[]
  /** Reads the rules again. */
  reload(): Promise<void>
}

/** Loads the rules, and reloads them when any node changes a rule, a token or a user. */
export async function loadCaptureRules(
  store: Store,
  clock: Clock,
  warn: (message: string) => void,
): Promise<CaptureRules> {
  let rules: readonly CaptureRuleRow[] = []
  let begun = 0
  let applied = 0
  async function reload(): Promise<void> {
    // Reloads may overlap. The reload that began last has the newest rows.
    const mine = ++begun
    const next = await runningCaptureRules(store.read, epochSeconds(clock))
    if (mine < applied) return
    applied = mine
    rules = next
  }
  await reload()
  store.notices.subscribe(async (notice) => {
    if (notice === 'reconnected' || notice.topic === 'capture' || notice.topic === 'token' || notice.topic === 'user')
      await reload().catch((error) => warn(`reloading the recording rules failed: ${String(error)}`))
  })
  return {
    get isRecording() {
      return rules.length > 0
    },
    running: () => rules.filter((rule) => isRunning(rule, epochSeconds(clock))),
    reload,
  }
}

/**
 * A rule ends at `until`. It also ends when the maximum duration has passed since its creation, because the clock may
 * have been set back.
 */
function isRunning({ created_at, until }: CaptureRuleRow, now: number): boolean {
  return now < Math.min(until, created_at + longestCaptureSeconds)
}
