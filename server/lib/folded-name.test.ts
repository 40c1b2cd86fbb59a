import { expect, test } from 'bun:test'
import { foldedName } from './folded-name.ts'

test.each([
  ['stream', 'stream'],
  ['Stream', 'stream'],
  ['\u017ftream', 'stream'],
  ['max_token\u017f', 'max_tokens'],
  ['\uff53\uff49\uff5a\uff45', 'size'],
  ['ma\u212a', 'mak'],
  ['f\u0131ve', 'five'],
  ['größe', 'grösse'],
])('%s counts as %s', (name, folded) => expect(foldedName(name)).toBe(folded))
