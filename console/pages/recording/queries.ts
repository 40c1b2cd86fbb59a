import { queryOptions } from '@tanstack/react-query'
import { type CaptureChoice, type CaptureRule, captureApi } from '../../../contract/api/capture.ts'
import type { CaptureTarget } from '../../../contract/capture-targets.ts'
import { call } from '../../lib/call.ts'
import { queryClient } from '../../lib/query-client.ts'

/** The newest recordings. */
export const rulesQuery = queryOptions({
  queryKey: ['recording', 'rules'],
  queryFn: ({ signal }) => call(captureApi.rules, {}, { signal, quiet: true }),
})

/** Starts a recording. */
export async function startRecording(
  rule: Pick<CaptureRule, 'target' | 'target_id' | 'until' | 'redactions' | 'size_limit'>,
): Promise<void> {
  await call(captureApi.addRule, { body: rule })
  await queryClient.invalidateQueries({ queryKey: ['recording'] })
}

/** Ends a recording now. */
export async function endRecording(id: number): Promise<void> {
  await call(captureApi.endRule, { params: { id } })
  await queryClient.invalidateQueries({ queryKey: ['recording'] })
}

/** The users, tokens or channels whose name contains a text, or the one with the given id. */
export const choicesQuery = (target: CaptureTarget, { keyword = '', id = 0 }: { keyword?: string; id?: number }) =>
  queryOptions({
    queryKey: ['capture', 'choices', target, keyword, id],
    queryFn: ({ signal }) => call(captureApi.choices, { query: { target, keyword, id } }, { signal, quiet: true }),
    placeholderData: (before: CaptureChoice[] | undefined, query) =>
      query?.queryKey[2] === target ? before : undefined,
  })
