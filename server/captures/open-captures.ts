import { hostname } from 'node:os'
import { Turns } from '../lib/turns.ts'
import { loadCaptureRules } from './capture-rules.ts'
import { type CaptureDeps, type Captures, createCaptures } from './captures.ts'

/** Loads the rules and creates the recorder. */
export async function openCaptures(
  deps: Omit<CaptureDeps, 'rules' | 'turns' | 'dataDir' | 'host' | 'lost'>,
  dataDir: string,
  { capturesLost: lost }: { capturesLost: CaptureDeps['lost'] },
): Promise<Captures> {
  const { store, clock, warn } = deps
  const rules = await loadCaptureRules(store, clock, warn)
  return createCaptures({ ...deps, rules, turns: new Turns(), dataDir, host: hostname(), lost })
}

const everyMs = 60_000

/** The job that deletes old recordings. */
export function captureJobs({ sweep }: Captures) {
  return [{ name: 'sweep-recordings', everyMs, run: sweep }]
}
