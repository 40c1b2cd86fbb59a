import type { ConfigSection } from '../../../contract/config-file.ts'
import { allChannels, type ChannelRow } from '../../store/channels/channels.ts'
import type { Db } from '../../store/store.ts'
import { ConfigFault, EntryFault } from '../config-kind.ts'

/** The only channel with the name of an entry. Throws EntryFault if there is none, or more than one. */
export function onlyChannel(rows: readonly ChannelRow[] = []): ChannelRow {
  const [first] = rows
  if (!first) throw new EntryFault('there is no channel of that name.')
  if (rows.length > 1) throw new EntryFault(`there are ${rows.length} channels of that name.`)
  return first
}

/** Throws ConfigFault if the name of one of these channels is not unique, because an export could not identify it. */
export async function refuseSameNames(
  db: Db,
  channels: readonly Pick<ChannelRow, 'id' | 'name'>[],
  { section, what }: { section: ConfigSection; what: string },
): Promise<void> {
  const all = Map.groupBy(await allChannels(db), ({ name }) => name)
  const twice = channels.find(({ name }) => name === '' || (all.get(name)?.length ?? 0) > 1)
  if (twice)
    throw new ConfigFault(
      [section],
      `The ${what} of channel ${twice.id} cannot be in a configuration file, because its name is not unique. Rename it first.`,
    )
}
