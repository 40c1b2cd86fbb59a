import { queryOptions } from '@tanstack/react-query'
import type * as z from 'zod/mini'
import { userApi } from '../../../contract/api/user.ts'
import {
  type DryRun,
  type dryRunBody,
  type VirtualModel,
  virtualModelApi,
  type virtualModelBody,
} from '../../../contract/api/virtual-model.ts'
import { call } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'

/** All virtual models, by name. */
export const virtualModelsQuery = queryOptions({
  queryKey: ['virtual-model'],
  queryFn: ({ signal }) => call(virtualModelApi.list, {}, { signal, quiet: true }),
})

/** The models that are suggested for a step: those of the user's own group. Other names can be typed. */
export const knownModelsQuery = queryOptions({
  queryKey: ['virtual-model', 'known'],
  queryFn: ({ signal }) => call(userApi.availableModels, {}, { signal, quiet: true }),
  staleTime: 60_000,
})

async function reload(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ['virtual-model'] })
  await queryClient.invalidateQueries({ queryKey: ['available-models'] })
}

export type VirtualModelBody = z.input<typeof virtualModelBody>

/** Creates a virtual model, or changes the one with the given id. */
export async function saveVirtualModel(id: number | undefined, body: VirtualModelBody): Promise<void> {
  if (id === undefined) await call(virtualModelApi.create, { body })
  else await call(virtualModelApi.update, { body: { id, ...body } })
  await reload()
}

/** Switches a virtual model on or off. */
export async function switchVirtualModel({ id }: VirtualModel, enabled: boolean): Promise<void> {
  await call(virtualModelApi.update, { body: { id, enabled } })
  await reload()
}

export async function removeVirtualModel({ id }: VirtualModel): Promise<void> {
  await call(virtualModelApi.remove, { params: { id } })
  await reload()
}

/** Shows what would happen to a request; nothing is called or charged. */
export function tryRequest(body: z.input<typeof dryRunBody>): Promise<DryRun> {
  return call(virtualModelApi.dryRun, { body })
}
