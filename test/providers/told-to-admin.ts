import type { TestGateway } from '../helpers/test-gateway.ts'

/** What the test of the newest channel reports to an admin: the service's own message, which callers do not receive. */
export async function toldToAdmin(gateway: TestGateway, model = ''): Promise<string> {
  const { id } = await gateway.context.store.read
    .selectFrom('channels')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const answer = await fetch(`${gateway.url}/api/channel/test/${id}?model=${model}`, {
    headers: { authorization: 'testgatewayaccesstoken' },
  })
  return ((await answer.json()) as { message: string }).message
}
