import { expect, test } from 'bun:test'
import { balanceUnits } from '../../contract/balance-units.ts'
import { providers } from './registry.ts'

test('a channel type has a balance unit if and only if its upstream can report its balance', () => {
  const types = providers.filter(({ balance }) => balance !== undefined).map(({ meta }) => meta.type)
  expect(Object.keys(balanceUnits).map(Number)).toEqual(types.sort((a, b) => a - b))
})
