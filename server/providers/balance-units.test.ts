import { expect, test } from 'bun:test'
import { balanceUnits } from '../../contract/balance-units.ts'
import { providers } from './registry.ts'

test('exactly the types whose upstream can report its balance have a unit', () => {
  const types = providers.filter(({ balance }) => balance !== undefined).map(({ meta }) => meta.type)
  expect(Object.keys(balanceUnits).map(Number)).toEqual(types.sort((a, b) => a - b))
})
