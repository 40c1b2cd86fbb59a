import { insertLogs } from './log-insert.ts'

/**
 * The part of `tollgate_batch` that settles holds. One statement deletes all holds. They are then charged in the order
 * of the batch. A charge above the hold is limited to the quota that the earlier operations of the batch have left.
 */
export const settleText = `
  if s_count > 0 then
    with gone as (delete from holds where id = any(s_ids) returning *)
    select array_agg(id), array_agg(amount), array_agg(token_limited), array_agg(counted), array_agg(window_second),
      array_agg(window_tokens), array_agg(user_id), array_agg(token_id)
      into g_ids, g_amounts, g_limited, g_counted, g_seconds, g_tokens, g_users, g_token_ids from gone;
  end if;
  for i in 1 .. s_count loop
    pos := array_position(g_ids, s_ids[i]);
    continue when pos is null;
    g_ids[pos] := null;
    u := s_users[i];
    t := s_tokens[i];
    op := nullif(s_more->(i - 1), 'null');
    has_log := s_flags[i] & 4 > 0;
    back := g_amounts[pos] - s_charges[i];
    if back < 0 and s_flags[i] & 1 = 0 then
      cover := coalesce(u_quota[u], 0);
      if g_limited[pos] then
        cover := least(cover, coalesce(t_remain[t], 0));
      end if;
      if op ? 'limits' then
        -- The holds of the batch are over by now. What this one held is part of the room; what those after it held is not.
        select coalesce(sum(h.amount) filter (where h.of_token = token_ids[t]), 0), coalesce(sum(h.amount), 0)
          into later_token, later_user from unnest(g_ids, g_amounts, g_counted, g_users, g_token_ids)
            as h(id, amount, counted, of_user, of_token)
          where h.id is not null and h.counted > 0 and h.of_user = user_ids[u];
        budget := tollgate_budget(op->'limits', user_ids[u], token_ids[t], t_charged[t] + later_token,
          u_charged[u] + later_user, now_s);
        cover := least(cover, (budget->>'room')::bigint - g_amounts[pos]);
      end if;
      back := -least(-back, greatest(0, cover));
    end if;
    charged := g_amounts[pos] - back;
    s_charged[i] := charged;
    u_quota[u] := u_quota[u] + back;
    u_back[u] := u_back[u] + back;
    u_charged[u] := u_charged[u] + charged;
    if s_flags[i] & 2 > 0 then
      u_requests[u] := u_requests[u] + 1;
    end if;
    t_charged[t] := t_charged[t] + charged;
    if g_limited[pos] then
      t_remain[t] := t_remain[t] + back;
      t_back[t] := t_back[t] + back;
    else
      t_granted[t] := t_granted[t] + charged;
    end if;
    if t_accessed[t] < s_times[i] then
      t_accessed[t] := s_times[i];
    end if;
    c := s_channels[i];
    if c > 0 then
      c_charged[c] := c_charged[c] + charged;
    end if;
    if not has_log and charged <> 0 then
      u_unlogged[u] := u_unlogged[u] + charged;
      t_unlogged[t] := t_unlogged[t] + charged;
      if c > 0 then
        c_unlogged[c] := c_unlogged[c] + charged;
      end if;
    end if;
    continue when g_counted[pos] = 0 and (c = 0 or coalesce(c_capped[c], 0) = 0);
    if g_counted[pos] & 6 > 0 and op ? 'tokens' and (op->>'tokens')::bigint <> g_tokens[pos] then
      foreach whose in array array['token', 'user'] loop
        continue when g_counted[pos] & case whose when 'token' then 2 else 4 end = 0;
        m_owners := m_owners || whose;
        m_ids := m_ids || case whose when 'token' then token_ids[t] else user_ids[u] end;
        m_seconds := m_seconds || g_seconds[pos];
        m_tokens := m_tokens || ((op->>'tokens')::bigint - g_tokens[pos]);
      end loop;
    end if;
    if g_counted[pos] & 8 > 0 or (c > 0 and c_capped[c] > 0) then
      perform tollgate_cap_settle(coalesce(op, '{}') || jsonb_build_object('id', s_ids[i],
        'channelId', case when c > 0 then channel_ids[c] else 0 end,
        'log', case when has_log then log_rows->(array_position(l_settles, i) - 1) end), charged, c > 0 and c_capped[c] > 0, now_s);
    end if;
  end loop;
  if cardinality(m_owners) > 0 then
    perform tollgate_settle_minutes(m_owners, m_ids, m_seconds, m_tokens, now_s);
  end if;
  if cardinality(l_settles) > 0 then
    ${insertLogs(
      'l_settles',
      {
        content: `l.content || case when s_charged[l.n] < s_charges[l.n]
          then '; price ' || s_charges[l.n] || ', only ' || s_charged[l.n] || ' could be charged' else '' end`,
        quota: 's_charged[l.n]',
      },
      'where s_charged[l.n] is not null',
    )}
  end if;`
