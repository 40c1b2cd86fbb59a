import type { Secrets } from '../lib/secrets/secrets.ts'
import { captureIdsIn } from '../store/installation/captures.ts'
import type { Store } from '../store/store.ts'
import { contextOf } from './capture-document.ts'
import type { CaptureFiles, CaptureStore } from './capture-store.ts'

export interface ResealCapturesDeps {
  store: Store
  files: CaptureFiles
  objects: CaptureStore
  from: Secrets
  to: Secrets
}

/** The number of recordings that are encrypted with the new key, and the number that neither key could decrypt. */
export interface ResealedCaptures {
  resealed: number
  unreadable: number
}

/**
 * Encrypts the recordings of this node and of the object store with another secret key, one at a time. An interrupted
 * run can be repeated: recordings that are already encrypted with the new key are left unchanged. Throws if the object
 * store cannot be reached.
 */
export async function resealCaptures({
  store,
  files,
  objects,
  from,
  to,
}: ResealCapturesDeps): Promise<ResealedCaptures> {
  const report = { resealed: 0, unreadable: 0 }
  const reseal = async (place: CaptureStore, id: string) => {
    const bytes = await place.get(id)
    if (!bytes) return
    const context = contextOf(id)
    const attempt = (secrets: Secrets) => {
      try {
        return secrets.openBytes(bytes, context)
      } catch {
        return undefined
      }
    }
    if (!attempt(to)) {
      const plain = attempt(from)
      if (!plain) {
        report.unreadable++
        return
      }
      await place.put(id, to.sealBytes(plain, context))
    }
    report.resealed++
  }
  await files.each(async (ids) => {
    for (const id of ids) await reseal(files, id)
  })
  for (let after = ''; ; ) {
    const ids = await captureIdsIn(store.read, 's3', after)
    const last = ids.at(-1)
    if (last === undefined) return report
    for (const id of ids) await reseal(objects, id)
    after = last
  }
}
