import { type ImportTextCode, importTexts } from '../../contract/import-texts.ts'

type Texts = { readonly [C in ImportTextCode as `finding.${C}`]: (typeof importTexts)[C] }

/** The server's sentences about imports. In English they are the server's own texts. */
export const findingEn = Object.fromEntries(
  Object.entries(importTexts).map(([code, sentence]) => [`finding.${code}`, sentence]),
) as Texts
