/**
 * The part of `tollgate_batch` that takes quota. Extensions come before holds. For each operation, its place and its
 * limits are checked first, and then its quota.
 */
export const takeText = `
  for i in 1 .. x_count loop
    u := x_users[i];
    t := x_tokens[i];
    op := nullif(x_more->(i - 1), 'null');
    wanted := x_amounts[i];
    needed := x_minimums[i];
    place := null;
    minutes := null;
    refused := null;
    budget := null;
    taken := 0;
    if i <= x_extends then
      select amount, token_limited, counted into held, limited, mask from holds where id = x_ids[i];
      if not found then
        x_answers[i] := ('{"ok":false,"reason":"gone","available":0,"othersOpen":false,"used":0}'::jsonb);
        continue;
      end if;
      if op ? 'caps' or op ? 'leaves' then
        freed := tollgate_cap_free(x_ids[i]);
        mask := mask & ~8::bigint;
        if op ? 'caps' then
          own := array(select f.cap_id from unnest(freed) f);
          place := tollgate_cap_place(jsonb_set(op, '{caps,least}',
            to_jsonb(greatest((op->'caps'->>'least')::bigint, held))), own, now_s);
          if place ? 'reason' then
            perform tollgate_cap_restore(freed);
            x_answers[i] := (place);
            continue;
          end if;
          wanted := least(wanted, (place->>'room')::bigint - held);
          mask := mask | 8;
        end if;
      elsif mask & 8 > 0 and wanted > 0 then
        cover := tollgate_cap_grow(x_ids[i], now_s);
        if cover < needed then
          x_answers[i] := ('{"ok":false,"reason":"full","cap":0,"metric":"quota","retryAfter":1,"othersOpen":true,"never":false}'::jsonb);
          continue;
        end if;
        wanted := least(wanted, cover);
      end if;
    else
      limited := coalesce(not t_unlimited[t], false);
      mask := 0;
      if op ? 'caps' then
        place := tollgate_cap_place(op || jsonb_build_object('id', x_ids[i]), '{}', now_s);
        if not place ? 'reason' then
          wanted := least(wanted, (place->>'room')::bigint);
          needed := least(needed, (place->>'room')::bigint);
          mask := 8;
        end if;
      end if;
      if op ? 'limits' then
        limits := op->'limits';
        minutes := '{}';
        if (limits->'token'->>'rpm_limit')::bigint > 0 or (limits->'token'->>'tpm_limit')::bigint > 0 then
          t_minutes[t] := coalesce(t_minutes[t], tollgate_minute('token', token_ids[t], now_s));
          minutes := jsonb_build_object('token', t_minutes[t]);
        end if;
        if (limits->'user'->>'rpm_limit')::bigint > 0 or (limits->'user'->>'tpm_limit')::bigint > 0 then
          u_minutes[u] := coalesce(u_minutes[u], tollgate_minute('user', user_ids[u], now_s));
          minutes := minutes || jsonb_build_object('user', u_minutes[u]);
        end if;
        refused := tollgate_limit(limits, user_ids[u], token_ids[t], minutes, now_s,
          array[t_calls[t], t_call_tokens[t], u_calls[u], u_call_tokens[u]]);
        if refused is not null then
          x_answers[i] := (refused || jsonb_build_object('ok', false, 'reason', 'limit', 'minutes', minutes));
          continue;
        end if;
      end if;
    end if;

    if i > x_extends or wanted <> 0 then
      if u_quota[u] is null or t_remain[t] is null then
        refused := '{"ok":false,"reason":"gone","available":0,"othersOpen":false,"used":0}';
      else
        if limited and t_remain[t] < needed then
          refused := jsonb_build_object('reason', 'token', 'available', greatest(0, t_remain[t]));
        elsif u_quota[u] < needed then
          refused := jsonb_build_object('reason', 'user', 'available', greatest(0, u_quota[u]));
        else
          taken := least(wanted, u_quota[u]);
          if limited then
            taken := least(taken, t_remain[t]);
          end if;
          if op ? 'limits' then
            budget := tollgate_budget(op->'limits', user_ids[u], token_ids[t], t_charged[t], u_charged[u], now_s);
            if (budget->>'room')::bigint < needed then
              taken := 0;
              refused := jsonb_build_object('reason', budget->>'owner', 'available', greatest(0, (budget->>'room')::bigint),
                'budget', budget->>'budget', 'retryAfter', budget->'retryAfter');
            else
              taken := least(taken, (budget->>'room')::bigint);
            end if;
          end if;
        end if;
        if refused is not null then
          if refused->>'reason' = 'token' then
            others := t_open[t] > 0 or exists(select 1 from holds where token_id = token_ids[t] and id <> x_ids[i]);
            used := t_used[t] + t_charged[t];
          else
            others := u_open[u] > 0 or exists(select 1 from holds where user_id = user_ids[u] and id <> x_ids[i]);
            used := u_used[u] + u_charged[u];
          end if;
          refused := refused || jsonb_build_object('ok', false, 'othersOpen', others, 'used', used);
          if exists(select 1 from leases l where l.user_id = user_ids[u]
              and (refused->>'reason' <> 'token' or l.token_id = token_ids[t])) then
            refused := refused || '{"leased":true}';
          end if;
        end if;
      end if;
    end if;

    if i <= x_extends then
      if refused is not null and place is null then
        x_answers[i] := (refused);
        -- A call that leaves a channel with caps has left it, whatever it gets.
        if op ? 'leaves' then
          update holds set counted = mask where id = x_ids[i];
        end if;
        continue;
      end if;
      if place is not null then
        -- The call moves even if there is no more quota; whether the hold is enough for it, its owner decides.
        x_answers[i] := (jsonb_build_object('ok', true, 'amount', taken, 'part', place->'part'));
        perform tollgate_cap_count(op || jsonb_build_object('id', x_ids[i]), place->>'whose', held + taken, now_s);
      else
        x_taken[i] := taken;
        if mask & 8 > 0 and taken > 0 then
          update cap_places p set reserved = p.reserved + taken from caps cap
            where p.hold_id = x_ids[i] and cap.id = p.cap_id and cap.metric in ('quota', 'cost');
          update cap_counts n set used = n.used + taken from caps cap, cap_places p
            where p.hold_id = x_ids[i] and cap.id = p.cap_id and cap.metric in ('quota', 'cost')
              and n.cap_id = p.cap_id and n.part = p.part and n.start = p.start;
        end if;
      end if;
      update holds set amount = amount + taken, counted = mask, crash_charge = x_crashes[i],
        channel_id = coalesce(x_channels[i], channel_id), prompt_tokens = coalesce(x_prompts[i], prompt_tokens),
        completion_tokens = coalesce(x_completions[i], completion_tokens) where id = x_ids[i];
    else
      if place ? 'reason' then
        -- That the account cannot pay comes first: waiting for a place would not help.
        x_answers[i] := (coalesce(refused, tollgate_cap_line(op, place)));
        continue;
      end if;
      if refused is not null then
        x_answers[i] := (refused ||
          case when minutes is null then '{}'::jsonb else jsonb_build_object('minutes', minutes) end);
        continue;
      end if;
      if op is null or not op ? 'limits' and mask = 0 then
        x_taken[i] := taken;
        x_limited[i] := limited;
        x_new := x_new || i;
        u_open[u] := u_open[u] + 1;
        t_open[t] := t_open[t] + 1;
      else
        reserved := 0;
        if op ? 'limits' then
          -- 1 = counted; 2 and 4 more = in the minute of the token, of the user.
          reserved := (limits->>'tokens')::bigint;
          mask := mask | 1;
          if minutes ? 'token' then
            mask := mask | 2;
            t_calls[t] := t_calls[t] + 1;
            t_call_tokens[t] := t_call_tokens[t] + reserved;
            t_minutes[t] := jsonb_build_object('calls', (t_minutes[t]->>'calls')::bigint + 1,
              'tokens', (t_minutes[t]->>'tokens')::bigint + reserved, 'callsReset', 61,
              'tokensReset', case when reserved > 0 then 61 else (t_minutes[t]->>'tokensReset')::bigint end);
            minutes := minutes || jsonb_build_object('token', t_minutes[t]);
          end if;
          if minutes ? 'user' then
            mask := mask | 4;
            u_calls[u] := u_calls[u] + 1;
            u_call_tokens[u] := u_call_tokens[u] + reserved;
            u_minutes[u] := jsonb_build_object('calls', (u_minutes[u]->>'calls')::bigint + 1,
              'tokens', (u_minutes[u]->>'tokens')::bigint + reserved, 'callsReset', 61,
              'tokensReset', case when reserved > 0 then 61 else (u_minutes[u]->>'tokensReset')::bigint end);
            minutes := minutes || jsonb_build_object('user', u_minutes[u]);
          end if;
        end if;
        -- Written at once, because the limits of the next hold read the holds that are counted.
        insert into holds (id, user_id, token_id, amount, crash_charge, node_id, created_at, model_name, request_id,
          token_limited, channel_id, prompt_tokens, completion_tokens, counted, window_second, window_tokens)
        values (x_ids[i], user_ids[u], token_ids[t], taken, x_crashes[i], x_nodes[i], x_times[i], x_models[i],
          x_requests[i], limited, coalesce(x_channels[i], 0), coalesce(x_prompts[i], 0), coalesce(x_completions[i], 0),
          mask, case when mask & 1 > 0 then now_s else 0 end, reserved);
        if place is not null then
          perform tollgate_cap_count(op || jsonb_build_object('id', x_ids[i]), place->>'whose', taken, now_s);
        end if;
        x_answers[i] := (jsonb_build_object('ok', true, 'amount', taken)
          || case when place is null then '{}'::jsonb else jsonb_build_object('part', place->'part') end
          || case when minutes is null then '{}'::jsonb else jsonb_build_object('minutes', minutes) end);
      end if;
    end if;
    if taken > 0 then
      u_quota[u] := u_quota[u] - taken;
      u_back[u] := u_back[u] - taken;
      if limited then
        t_remain[t] := t_remain[t] - taken;
        t_back[t] := t_back[t] - taken;
      end if;
    end if;
  end loop;`
