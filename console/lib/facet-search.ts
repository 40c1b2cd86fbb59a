import type { ValueDimension } from '../../contract/api/usage-values.ts'
import { texts } from './url-state.ts'

/** What logs and usage can be filtered by, as stored in the URL: values that a row must have, and values it must not. */
export type FacetSearch = { [Name in ValueDimension | `not_${ValueDimension}`]?: string | undefined }

/** Reads the facets of a URL. */
export const parseFacets = texts(
  'model',
  'token',
  'user',
  'channel',
  'not_model',
  'not_token',
  'not_user',
  'not_channel',
)
