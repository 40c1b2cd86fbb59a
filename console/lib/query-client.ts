import { QueryClient } from '@tanstack/react-query'
import { onSessionChange, sessionUser } from './session.ts'

/** The cache of everything that was asked of the server. Failed calls are shown once and not repeated by themselves. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Asked whatever the browser says of the network, and again when it is back, which goes together only when told.
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

// What one person may see is nothing to the next.
onSessionChange(() => {
  const id = sessionUser()?.id
  if (id !== known) queryClient.clear()
  known = id
})
