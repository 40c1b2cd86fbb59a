import { observable, useObservable } from './observable.ts'
import { readStored, writeStored } from './storage.ts'

const keys = observable(readStored('ui.keys') !== 'off')

/** Whether single-key shortcuts work. */
export function useSingleKeys(): boolean {
  return useObservable(keys)
}

/** Whether single-key shortcuts work, for code outside components. */
export function singleKeysOn(): boolean {
  return keys.get()
}

/** Turns single-key shortcuts on or off and remembers the choice. */
export function setSingleKeys(on: boolean): void {
  writeStored('ui.keys', on ? undefined : 'off')
  keys.set(on)
}
