/** The creation time that one-api returns for every model. Clients only require that it is a number. */
const created = 1_626_777_600

const permission = {
  id: 'modelperm-tollgate',
  object: 'model_permission',
  created,
  allow_create_engine: true,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: '*',
  group: null,
  is_blocking: false,
}

/**
 * One entry of a model list, in OpenAI's format with one-api's additions. `owner` is undefined for a model that no
 * catalogue lists.
 */
export function modelEntry(id: string, owner: string | undefined) {
  return {
    id,
    object: 'model' as const,
    created,
    owned_by: owner ?? 'custom',
    permission: owner === undefined ? [] : [permission],
    root: id,
    parent: null,
  }
}
