import { type ProgressResult, progress } from '@clack/prompts'
import type { ImportProgress } from '../../jobs/import-engine.ts'
import type { Terminal } from '../command.ts'

/** The interval at which a progress line is written, in milliseconds. */
const lineMs = 1000

/** Shows the progress of an import: as a bar on a terminal, otherwise as one line per second. */
export interface ProgressView {
  show(step: ImportProgress): void
  /** Ends the bar. Call this before other output. */
  end(): void
}

export function progressView(terminal: Terminal): ProgressView {
  return process.stderr.isTTY ? bar() : lines(terminal)
}

/** The number of rows per second since the stage began. */
function rateOf(done: number, sinceMs: number): string {
  const elapsed = Date.now() - sinceMs
  return elapsed > 0 ? ` (${Math.round((done / elapsed) * 1000)} a second)` : ''
}

const texts = {
  accounts: 'users, tokens and channels',
  logs: 'log rows',
  usage: 'adding up the usage',
} as const

function bar(): ProgressView {
  let shown: ProgressResult | undefined
  let stage = ''
  let last = 0
  let first: { at: number; done: number } = { at: 0, done: 0 }
  return {
    show({ stage: now, done, total }) {
      if (now !== stage) {
        shown?.stop(stage === '' ? '' : texts[stage as keyof typeof texts])
        shown = progress({ max: Math.max(1, total), output: process.stderr })
        shown.start(texts[now])
        stage = now
        last = 0
        first = { at: Date.now(), done }
      }
      const text = total > 0 ? `: ${done} of ${total}${rateOf(done - first.done, first.at)}` : ''
      shown?.advance(Math.max(0, done - last), `${texts[now]}${text}`)
      last = done
    },
    end() {
      if (stage !== '') shown?.stop(texts[stage as keyof typeof texts])
      shown = undefined
      stage = ''
    },
  }
}

function lines({ note }: Terminal): ProgressView {
  let stage = ''
  let last = 0
  let first: { at: number; done: number } = { at: 0, done: 0 }
  return {
    show({ stage: now, done, total }) {
      const at = Date.now()
      if (now === stage && at - last < lineMs && done < total) return
      if (now !== stage) first = { at, done }
      stage = now
      last = at
      note(total > 0 ? `${texts[now]}: ${done} of ${total}${rateOf(done - first.done, first.at)}` : texts[now])
    },
    end() {
      stage = ''
    },
  }
}
