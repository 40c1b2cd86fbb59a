import { QueryClient } from '@tanstack/react-query'
import { onSessionChange, sessionUser } from './session.ts'

/** The cache of all server responses. Failed calls are shown once and not retried automatically. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // With these two settings, queries run even if the browser reports that it is offline, and run again when the
    // network is back.
    queries: {
      retry: false,
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: true,
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

let known = sessionUser()?.id

// Clears the cache when the user changes, because the next user must not see this user's data.
onSessionChange(() => {
  const id = sessionUser()?.id
  if (id !== known) queryClient.clear()
  known = id
})
