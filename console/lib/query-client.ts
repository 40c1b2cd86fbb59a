import { QueryClient } from '@tanstack/react-query'
import { onSessionChange, sessionUser } from './session.ts'

/** The cache of all server responses. Failed calls are shown once and not retried automatically. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Queries run regardless of what the browser reports about the network, and run again when the network is back.
    // This needs both settings.
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

// The next user must not see this user's data.
onSessionChange(() => {
  const id = sessionUser()?.id
  if (id !== known) queryClient.clear()
  known = id
})
