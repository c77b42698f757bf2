#include "state/evolution_entry.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* Elements of an evolution in the reply to a claim. */
#define EVOLUTION_CLAIM_ROW 3

/* "<version> <record>", as it is stored. */
static void
evolution_parse(
    struct record_reader *rd, struct str value, struct evolution_entry *e)
{
	struct str version = str_split(&value, ' ');

	if (str_to_i64(version, 1, INT64_MAX, &e->version) != RC_OK ||
	    value.p == NULL)
		rd->rc = RC_INVALID;
	e->json = value;
}

enum rc
evolution_entry_swap(struct state *s, struct evolution_entry *e,
    const struct evolution_change *change, struct arena *a)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_evolution_swap);
	call_key(&c, KEY_USER_EVOLUTIONS, e->user_id, STR_NONE);
	call_key_of(&c, KEY_EVOLUTIONS_DUE, e->user_id, STR_NONE);
	call_key(&c, KEY_SOUL, e->user_id, change->soul_id);
	call_key(&c, KEY_MCP_USER, e->user_id, STR_NONE);
	call_pack(&c);
	call_num(&c, e->version);
	call_token(&c, e->id);
	call_tokens(&c, e->user_id, ':', e->id);
	call_num(&c, change->publish_ms);
	if (change->drop.n > 0)
		call_token(&c, change->drop);
	else
		call_text(&c, STR(""), 0);
	call_num(&c, EVOLUTIONS_MAX);
	call_num(&c, change->server_change);
	call_text(&c, change->server.name, MCP_SERVER_NAME_MAX);
	call_text(&c, change->server.json, SCRIPT_PACK_MAX);
	call_num(&c, MCP_USER_SERVERS_MAX);
	call_pack_end(&c);
	call_text(&c, change->json, EVOLUTION_JSON_MAX);
	rc = call_run(s, &c, 1, &r);
	if (call_is_done(rc)) {
		e->version++;
		e->json = change->json;
	} else if (rc == RC_CONFLICT) {
		e->version = state_reply_int(state_reply_at(r, 1));
		e->json = record_text(&rd, state_reply_at(r, 2));
		if (rd.rc != RC_OK)
			rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
evolution_entry_read(
    struct state *s, struct evolution_entry *e, struct arena *a)
{
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX], token[ID_TOKEN_MAX];
	struct state_reply *r = NULL;
	struct str key;
	enum rc rc = state_key(text, KEY_USER_EVOLUTIONS, &e->user_id, 1, &key);

	if (rc == RC_OK)
		rc = id_token(e->id, token);
	if (rc == RC_OK)
		rc = state_cmd(
		    s, STATE_ARGS(STR("HGET"), key, str_of(token)), &r);
	if (rc == RC_OK && state_reply_kind(r) == STATE_NIL)
		rc = RC_NOENT;
	if (rc == RC_OK) {
		evolution_parse(&rd, record_text(&rd, r), e);
		rc = record_end(&rd, key);
	}
	state_reply_free(r);
	return rc;
}

enum rc
evolution_entry_list(struct state *s, struct str user, struct arena *a,
    struct evolution_entries *out)
{
	struct record_reader rd = { .a = a };
	struct evolution_entry *e;
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str key;
	size_t i;
	enum rc rc = state_key(text, KEY_USER_EVOLUTIONS, &user, 1, &key);

	*out = (struct evolution_entries){ 0 };
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("HGETALL"), key), &r);
	if (rc == RC_OK) {
		out->entry = arena_alloc(
		    a, (state_reply_len(r) / 2 + 1) * sizeof(*out->entry));
		rd.rc = out->entry == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i + 1 < state_reply_len(r);
		     i += 2) {
			e = &out->entry[out->n++];
			*e = (struct evolution_entry){ .user_id = user,
				.id = record_id(&rd, state_reply_at(r, i)) };
			evolution_parse(
			    &rd, record_text(&rd, state_reply_at(r, i + 1)), e);
		}
		rc = record_end(&rd, key);
	}
	if (rc != RC_OK)
		out->n = 0;
	state_reply_free(r);
	return rc;
}

enum rc
evolution_entry_claim(struct state *s, unsigned bucket, int64_t lease_ms,
    struct arena *a, struct evolution_entries *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct evolution_entry *e;
	struct state_reply *r;
	struct script_call c;
	size_t i, n;
	enum rc rc;

	*out = (struct evolution_entries){ 0 };
	if (lease_ms <= 0)
		return RC_INVALID;
	call_begin(&c, &script_evolution_claim);
	call_bucket_key(&c, KEY_EVOLUTIONS_DUE, bucket);
	call_num(&c, lease_ms);
	call_num(&c, EVOLUTION_CLAIM_MAX);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->now.ms = state_reply_int(state_reply_at(r, 1));
		out->next.ms = state_reply_int(state_reply_at(r, 2));
		list = state_reply_at(r, 3);
		n = state_reply_len(list) / EVOLUTION_CLAIM_ROW;
		out->entry = arena_alloc(a, (n + 1) * sizeof(*out->entry));
		rd.rc = out->entry == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < n; i++) {
			e = &out->entry[out->n++];
			record_id_pair(&rd,
			    state_reply_str(
				state_reply_at(list, i * EVOLUTION_CLAIM_ROW)),
			    &e->user_id, &e->id);
			e->version = record_num(&rd,
			    state_reply_at(list, i * EVOLUTION_CLAIM_ROW + 1));
			e->json = record_text(&rd,
			    state_reply_at(list, i * EVOLUTION_CLAIM_ROW + 2));
		}
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		out->n = 0;
	state_reply_free(r);
	return rc;
}
