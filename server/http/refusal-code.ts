import { refusals } from '../../contract/refusals.ts'
import { codedTexts } from '../lib/coded-texts.ts'

/**
 * Returns the code of a refusal with the given text, and the values of the text's placeholders. Undefined if
 * contract/refusals.ts does not contain the text.
 */
export const refusalOf = codedTexts(refusals)
