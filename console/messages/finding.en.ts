import { type ImportTextCode, importTexts } from '../../contract/import-texts.ts'

type Texts = { readonly [C in ImportTextCode as `finding.${C}`]: (typeof importTexts)[C] }

/** The server's messages about imports. The English texts are those that the server sends. */
export const findingEn = Object.fromEntries(
  Object.entries(importTexts).map(([code, sentence]) => [`finding.${code}`, sentence]),
) as Texts
