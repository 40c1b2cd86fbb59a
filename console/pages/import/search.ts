import { texts } from '../../lib/url-state.ts'

/** `new`: the form for another source is open, although an import is known. */
export const parseImportSearch = texts('new')
