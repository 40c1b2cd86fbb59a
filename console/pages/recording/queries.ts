import { queryOptions } from '@tanstack/react-query'
import { type CaptureRule, captureApi } from '../../../contract/api/capture.ts'
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
