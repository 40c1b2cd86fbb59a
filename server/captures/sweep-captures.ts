import { type Clock, epochSeconds } from '../lib/clock.ts'
import type { SettingsSource } from '../settings/settings.ts'
import { captureFilesAmong, deletedCaptures, dropCapture, forgetOldCaptures } from '../store/installation/captures.ts'
import type { Store } from '../store/store.ts'
import type { CaptureFiles, CaptureStore } from './capture-store.ts'

export interface SweepCapturesDeps {
  store: Store
  settings: SettingsSource
  clock: Clock
  files: CaptureFiles
  objects(): CaptureStore
}

const daySeconds = 86_400

/**
 * Deletes recorded requests whose retention period is over, and removes the files and objects of all deleted
 * recordings. Each node removes only files in its own folder, if they have no database row.
 */
export async function sweepCaptures({ store, settings, clock, files, objects }: SweepCapturesDeps): Promise<void> {
  const before = epochSeconds(clock) - settings.current().CaptureRetentionDays * daySeconds
  while (await forgetOldCaptures(store, before));
  await files.each(async (ids) => {
    const kept = await captureFilesAmong(store.read, ids)
    for (const id of ids) if (!kept.has(id)) await files.remove(id)
  })
  for (const id of await deletedCaptures(store.read)) {
    await objects().remove(id)
    await dropCapture(store, id)
  }
}
