import { expect, test } from 'bun:test'
import { realPasswords } from '../../../test/helpers/real-passwords.ts'
import { hashPassword, verifyPassword } from './password.ts'

test('a hash states 64 MiB and two passes, and matches only its password', async () => {
  using _real = realPasswords()
  const hash = await hashPassword('a long password')
  expect(hash).toStartWith('$argon2id$v=19$m=65536,t=2,p=1$')
  expect(await verifyPassword('a long password', hash)).toBe(true)
  expect(await verifyPassword('a long passwore', hash)).toBe(false)
})
