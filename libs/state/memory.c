/*
 * memory: what a soul remembers of a user.
 *
 * All of it is read in pages; the version, which every change makes a new one,
 * tells whether the pages belong together.
 */
#include "state/memory.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define TOMBSTONE_MS (MEMORY_TOMBSTONE_DAYS * INT64_C(86400000))
#define PAGE_ITEMS   500
#define PAGE_IDS     5000
/* Attempts to read everything without a change in between. */
#define TRIES_MAX 4

static void
memory_call(struct script_call *c, const struct state_script *script,
    const struct memory_scope *scope)
{
	static const char *const pattern[] = { KEY_MEMORY, KEY_MEMORY_ITEMS,
		KEY_MEMORY_ORDER, KEY_MEMORY_GONE, KEY_MEMORY_VECS,
		KEY_MEMORY_PAST, KEY_MEMORY_PAST_ITEMS };
	size_t i;

	call_begin(c, script);
	for (i = 0; i < NELEM(pattern); i++)
		call_key(c, pattern[i], scope->user_id, scope->soul_id);
}

enum rc
memory_put(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, struct wall made)
{
	struct script_call c;

	if (!id_valid(item->id) || made.ms < 0)
		return RC_INVALID;
	memory_call(&c, &script_memory_put, scope);
	call_text(&c, item->id, ID_MAX);
	call_text(&c, item->json, MEMORY_JSON_MAX);
	call_num(&c, MEMORY_MAX);
	call_num(&c, made.ms);
	call_text(&c, item->vector, MEMORY_VECTOR_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_vectors(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, size_t n)
{
	struct script_call c;
	size_t i;

	if (n == 0 || n > MEMORY_VECTORS_MAX)
		return n == 0 ? RC_OK : RC_INVALID;
	memory_call(&c, &script_memory_set_vectors, scope);
	for (i = 0; i < n; i++) {
		call_text(&c, item[i].id, ID_MAX);
		call_text(&c, item[i].vector, MEMORY_VECTOR_MAX);
	}
	return call_run(s, &c, 1, NULL);
}

static enum rc
memory_forget_with(struct state *s, const struct state_script *script,
    const struct memory_scope *scope, struct str id, int64_t tombstone_ms)
{
	struct script_call c;

	if (!id_valid(id))
		return RC_INVALID;
	memory_call(&c, script, scope);
	call_text(&c, id, ID_MAX);
	call_num(&c, tombstone_ms);
	call_num(&c, MEMORY_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_forget(struct state *s, const struct memory_scope *scope, struct str id)
{
	return memory_forget_with(
	    s, &script_memory_delete, scope, id, TOMBSTONE_MS);
}

enum rc
memory_add_tombstone(
    struct state *s, const struct memory_scope *scope, struct str id)
{
	return memory_forget_with(
	    s, &script_memory_add_tombstone, scope, id, TOMBSTONE_MS);
}

enum rc
memory_check_tombstone(struct state *s, const struct memory_scope *scope,
    struct str id, struct wall made)
{
	struct script_call c;

	if (!id_valid(id) || made.ms < 0)
		return RC_INVALID;
	memory_call(&c, &script_memory_check_tombstone, scope);
	call_text(&c, id, ID_MAX);
	call_num(&c, made.ms);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_del(struct state *s, const struct memory_scope *scope, struct str id)
{
	return memory_forget_with(s, &script_memory_delete, scope, id, 0);
}

enum rc
memory_clear(struct state *s, const struct memory_scope *scope, size_t *n)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memory_call(&c, &script_memory_clear, scope);
	rc = call_run(s, &c, 2, &r);
	if (n != NULL)
		*n = rc == RC_OK ? (size_t)state_reply_int(state_reply_at(r, 1))
				 : 0;
	state_reply_free(r);
	return rc;
}

/* Progress of reading everything. */
struct memory_reader {
	struct memory_list *out;
	struct arena *a;
	int64_t known; /* the caller's version */
	bool ids;      /* ids only */
	size_t total, got;
	bool restart; /* it changed meanwhile */
};

static enum rc
memory_read_page(struct memory_reader *m, const struct state_reply *r)
{
	const struct state_reply *ids = state_reply_at(r, 3);
	const struct state_reply *json = state_reply_at(r, 4);
	const struct state_reply *vec = state_reply_at(r, 5);
	struct record_reader rd = { .a = m->a };
	int64_t version = record_num(&rd, state_reply_at(r, 1));
	struct memory_item *item;
	size_t i;

	if (m->got == 0) {
		m->out->version = version;
		if (version == m->known)
			return rd.rc;
		m->total = (size_t)state_reply_int(state_reply_at(r, 2));
		if (m->total > STATE_REPLY_MAX)
			return RC_TOOBIG;
		m->out->item = arena_alloc(m->a, m->total * sizeof(*item));
		if (m->out->item == NULL)
			return RC_TOOBIG;
	}
	m->restart = version != m->out->version ||
	    (state_reply_len(ids) == 0 && m->got < m->total);
	for (i = 0; i < state_reply_len(ids) && m->got < m->total; i++) {
		item = &m->out->item[m->got++];
		item->id = record_text(&rd, state_reply_at(ids, i));
		if (m->ids)
			continue;
		item->json = record_text(&rd, state_reply_at(json, i));
		item->vector = record_text(&rd, state_reply_at(vec, i));
	}
	return rd.rc;
}

/* Read from the beginning; done unless m->restart. */
static enum rc
memory_read_pages(
    struct state *s, const struct memory_scope *scope, struct memory_reader *m)
{
	struct state_reply *r;
	enum rc rc = RC_OK;
	struct script_call c;

	m->got = 0;
	m->total = 0;
	m->restart = false;
	do {
		memory_call(&c, &script_memory_read_page, scope);
		call_num(&c, (int64_t)m->got);
		call_num(&c, m->known);
		call_num(&c, m->ids ? PAGE_IDS : PAGE_ITEMS);
		call_num(&c, !m->ids);
		rc = call_run(s, &c, 6, &r);
		if (rc == RC_OK)
			rc = memory_read_page(m, r);
		if (rc == RC_INVALID)
			record_log_invalid(c.keys[0], STR("not memories"));
		state_reply_free(r);
	} while (rc == RC_OK && !m->restart && m->got < m->total);
	return rc;
}

static enum rc
memory_read_list(
    struct state *s, const struct memory_scope *scope, struct memory_reader *m)
{
	struct memory_list *out = m->out;
	enum rc rc = RC_OK;
	int i;

	*out = (struct memory_list){ 0 };
	m->restart = true;
	for (i = 0; i < TRIES_MAX && rc == RC_OK && m->restart; i++)
		rc = memory_read_pages(s, scope, m);
	if (rc == RC_OK && m->restart)
		rc = RC_RETRY;
	if (rc != RC_OK) {
		*out = (struct memory_list){ 0 };
	} else {
		out->changed = out->version != m->known;
		out->n = m->got;
	}
	return rc;
}

enum rc
memory_all(struct state *s, const struct memory_scope *scope, int64_t known,
    struct arena *a, struct memory_list *out)
{
	struct memory_reader m = { .out = out, .a = a, .known = known };

	return memory_read_list(s, scope, &m);
}

enum rc
memory_ids(struct state *s, const struct memory_scope *scope, int64_t known,
    struct arena *a, struct memory_list *out)
{
	struct memory_reader m = {
		.out = out, .a = a, .known = known, .ids = true
	};

	return memory_read_list(s, scope, &m);
}

enum rc
memory_get(struct state *s, const struct memory_scope *scope,
    struct memory_item *item, size_t n, struct arena *a)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	if (n == 0 || n > MEMORY_GET_MAX)
		return n == 0 ? RC_OK : RC_INVALID;
	memory_call(&c, &script_memory_read_items, scope);
	for (i = 0; i < n; i++)
		call_text(&c, item[i].id, ID_MAX);
	rc = call_run(s, &c, 3, &r);
	for (i = 0; i < n && rc == RC_OK; i++) {
		item[i].json =
		    record_text(&rd, state_reply_at(state_reply_at(r, 1), i));
		item[i].vector =
		    record_text(&rd, state_reply_at(state_reply_at(r, 2), i));
	}
	if (rc == RC_OK)
		rc = record_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
memory_supersede(struct state *s, const struct memory_scope *scope,
    const struct memory_superseded *old, bool here)
{
	struct script_call c;

	if (!id_valid(old->id) || old->made.ms < 0 || old->until.ms < 0)
		return RC_INVALID;
	memory_call(&c, &script_memory_supersede, scope);
	call_text(&c, old->id, ID_MAX);
	call_num(&c, old->made.ms);
	call_num(&c, old->until.ms);
	call_text(&c, old->json, MEMORY_JSON_MAX);
	call_num(&c, TOMBSTONE_MS);
	call_num(&c, MEMORY_MAX);
	call_num(&c, MEMORY_SUPERSEDED_MAX);
	call_num(&c, here);
	return call_run(s, &c, 1, NULL);
}

enum rc
memory_superseded_all(struct state *s, const struct memory_scope *scope,
    struct arena *a, struct memory_list *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *ids, *json;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;
	size_t i;

	*out = (struct memory_list){ 0 };
	memory_call(&c, &script_memory_read_superseded, scope);
	rc = call_run(s, &c, 3, &r);
	if (rc != RC_OK)
		return rc;
	ids = state_reply_at(r, 1);
	json = state_reply_at(r, 2);
	out->item =
	    arena_alloc(a, (state_reply_len(ids) + 1) * sizeof(*out->item));
	for (i = 0; out->item != NULL && i < state_reply_len(ids); i++)
		out->item[out->n++] = (struct memory_item){
			.id = record_text(&rd, state_reply_at(ids, i)),
			.json = record_text(&rd, state_reply_at(json, i)),
		};
	rc = out->item == NULL ? RC_TOOBIG : record_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
memory_cleared(
    struct state *s, const struct memory_scope *scope, struct wall *when)
{
	struct record_reader rd = { 0 };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memory_call(&c, &script_memory_read_cleared, scope);
	rc = call_run(s, &c, 2, &r);
	if (rc != RC_OK)
		return rc;
	when->ms = record_num(&rd, state_reply_at(r, 1));
	rc = record_end(&rd, c.keys[0]);
	state_reply_free(r);
	return rc;
}
