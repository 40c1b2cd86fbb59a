import { type ComponentType, type LazyExoticComponent, lazy as reactLazy } from 'react'
import { isChunkFailure, isReachable } from './chunk.ts'

const pauseMs = 2000

/**
 * Like React's `lazy`, but a chunk that cannot be fetched is requested once more when the server is reachable again. A
 * short interruption, such as an update of the server, thus only delays a dialog or a chart. With React's `lazy`, it
 * would replace the whole page with an error, and the content of a form would be lost.
 */
// biome-ignore lint/suspicious/noExplicitAny: the type of the props depends on the component that is loaded
export function lazy<T extends ComponentType<any>>(load: () => Promise<{ default: T }>): LazyExoticComponent<T> {
  return reactLazy(async () => {
    try {
      return await load()
    } catch (error) {
      if (!isChunkFailure(error)) throw error
      while (!(await isReachable())) await new Promise((resume) => setTimeout(resume, pauseMs))
      return load()
    }
  })
}
