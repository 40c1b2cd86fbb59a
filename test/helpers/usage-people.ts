import type { Store } from '../../server/store/store.ts'
import { createTestApi, type TestApi } from './api-app.ts'

/** Someone who calls the management API. */
export type Person = Awaited<ReturnType<TestApi['addPerson']>>

/** A management API with an admin and two users, for tests of the usage of each user. */
export async function withPeople(store: Store): Promise<{ api: TestApi; admin: Person; ada: Person; bob: Person }> {
  const api = await createTestApi(store)
  return {
    api,
    admin: await api.addPerson({ username: 'admin', role: 10 }),
    ada: await api.addPerson({ username: 'ada' }),
    bob: await api.addPerson({ username: 'bob' }),
  }
}
