import type { ValueDimension } from '../../contract/api/usage-values.ts'
import { texts } from './url-state.ts'

/** The facets as the URL names them. Groups are `in`, because `group` in the URL of the usage page is what it groups by. */
export type FacetName = Exclude<ValueDimension, 'group'> | 'in'

/** What logs and usage can be filtered by, as stored in the URL: values that a row must have, and values it must not. */
export type FacetSearch = { [Name in FacetName | `not_${FacetName}`]?: string | undefined }

/** Reads the facets of a URL. */
export const parseFacets = texts(
  'model',
  'token',
  'user',
  'channel',
  'in',
  'not_model',
  'not_token',
  'not_user',
  'not_channel',
  'not_in',
)
