import { Outlet } from '@tanstack/react-router'
import { type ComponentType, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { importPart } from '../lib/chunk.ts'
import { helpOpen, paletteOpen } from '../lib/commands.ts'
import { useHotkeys } from '../lib/hotkeys.ts'
import { lazy } from '../lib/lazy.ts'
import { useObservable } from '../lib/observable.ts'
import { useServerStatus } from '../lib/status.ts'
import { loadAreas, useText } from '../lib/text.ts'
import { onToast } from '../lib/toast.ts'

const Palette = lazy(async () => {
  const [it] = await Promise.all([import('./palette.tsx'), loadAreas(['palette', 'shell'])])
  return { default: it.Palette }
})
const KeyHelp = lazy(async () => {
  const [it] = await Promise.all([import('./key-help.tsx'), loadAreas(['palette'])])
  return { default: it.KeyHelp }
})

/** Surrounds every page with the toasts, the palette and the offline notice. */
export function Root() {
  return (
    <>
      <SkipLink />
      <Offline />
      <Outlet />
      <Overlays />
      <Favicon />
    </>
  )
}

function SkipLink() {
  const t = useText()
  return (
    <button
      type="button"
      className="fixed top-2 left-2 z-60 -translate-y-16 rounded-md bg-accent px-3 py-1.5 text-sm text-on-accent focus:translate-y-0"
      onClick={() => document.querySelector<HTMLElement>('main')?.focus()}
    >
      {t('app.skip')}
    </button>
  )
}

/**
 * The component that shows toasts. It is loaded with the first toast. If loading fails, the page stays unchanged, and
 * the next toast tries again.
 */
function useToaster(): ComponentType | undefined {
  const [loaded, setLoaded] = useState<{ Toaster: ComponentType }>()
  useEffect(() => onToast(() => void importPart(() => import('./toaster.tsx')).then(setLoaded, () => undefined)), [])
  return loaded?.Toaster
}

function Overlays() {
  const Toaster = useToaster()
  const palette = useObservable(paletteOpen)
  const help = useObservable(helpOpen)
  useHotkeys({ 'mod+k': () => paletteOpen.set(true), '?': () => helpOpen.set(true) })
  // Each part has its own boundary. Otherwise, loading one part would hide the others.
  return (
    <>
      {Toaster && <Toaster />}
      <Suspense fallback={null}>{palette && <Palette />}</Suspense>
      <Suspense fallback={null}>{help && <KeyHelp />}</Suspense>
    </>
  )
}

function onConnection(listener: () => void): () => void {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

function Offline() {
  const t = useText()
  const online = useSyncExternalStore(onConnection, () => navigator.onLine)
  if (online) return null
  return (
    <p role="status" className="bg-warn-tint px-4 py-1.5 text-center text-sm text-warn">
      {t('app.offline')}
    </p>
  )
}

function Favicon() {
  const { logo } = useServerStatus()
  useEffect(() => {
    if (logo) document.querySelector('#favicon')?.setAttribute('href', logo)
  }, [logo])
  return null
}
