/*
 * migration_count: what a server holds, and who is connected to it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "migrate/migration_internal.h"
#include "migrate/migration_scripts.h"

/* Keys that SCAN inspects at a time. */
#define PAGE "1000"

/* ---- keys ---- */

enum rc
migration_format(struct state *s, char *found, size_t size)
{
	struct state_reply *r;
	enum rc rc =
	    state_cmd(s, STATE_ARGS(STR("GET"), STR(MIGRATION_KEY_FORMAT)), &r);

	if (rc == RC_OK)
		str_copy(state_reply_kind(r) == STATE_NIL ? STR("1")
							  : state_reply_str(r),
		    found, size);
	state_reply_free(r);
	return rc;
}

enum rc
migration_scan(struct migration *m, migration_page_fn fn, void *arg)
{
	char cursor[STR_NUM_MAX] = "0";
	const struct state_reply *list;
	struct state_reply *r;
	struct str *keys;
	size_t i, n;
	enum rc rc;

	do {
		rc = state_cmd(m->s,
		    STATE_ARGS(STR("SCAN"), str_of(cursor), STR("MATCH"),
			STR("soul:*"), STR("COUNT"), STR(PAGE)),
		    &r);
		if (rc == RC_OK) {
			list = state_reply_at(r, 1);
			n = state_reply_len(list);
			keys = mem_calloc(n + 1, sizeof(*keys));
			for (i = 0; i < n; i++)
				keys[i] =
				    state_reply_str(state_reply_at(list, i));
			str_copy(state_reply_str(state_reply_at(r, 0)), cursor,
			    sizeof(cursor));
			rc = fn(arg, keys, n);
			free(keys);
		}
		state_reply_free(r);
	} while (rc == RC_OK && strcmp(cursor, "0") != 0);
	return rc;
}

/* ---- counting ---- */

/*
 * What a key does not tell is queried: whether it is a guard, how many members
 * a set has, and a terminal's format.
 */
struct count_pass {
	struct migration *m;
	struct migration_counts *c;
	struct state_pipe *pipe;
	size_t n;
	struct {
		enum key_record record;
		enum key_format format;
	} query[STATE_PIPE_MAX];
};

/* What a key's reply adds to the records of format f. */
static int64_t
count_of(enum key_record record, enum key_format f, const struct state_reply *r)
{
	switch (record) {
	case RECORD_IDLE:
	case RECORD_TICKS:
		return state_reply_int(r);
	case RECORD_TERMINAL:
		return str_eq(state_reply_str(r), STR("1")) == (f == FORMAT_1);
	default:
		/* A guard, or expired. */
		return !str_eq(state_reply_str(r), STR("list")) &&
		    !str_eq(state_reply_str(r), STR("none"));
	}
}

static enum rc
count_flush(struct count_pass *p)
{
	const struct state_reply *r;
	enum rc rc = state_pipe_run(p->pipe);
	enum key_record record;
	enum key_format f;
	size_t i;

	for (i = 0; rc == RC_OK && i < p->n; i++) {
		rc = state_pipe_reply(p->pipe, i, &r);
		record = p->query[i].record;
		f = p->query[i].format;
		p->c->n[record][f] += count_of(record, f, r);
	}
	p->n = 0;
	return rc;
}

static enum rc
count_query(struct count_pass *p, struct str key, enum key_record record,
    enum key_format f)
{
	enum rc rc;

	if (record == RECORD_IDLE || record == RECORD_TICKS)
		rc = state_pipe_cmd(p->pipe,
		    STATE_ARGS(
			STR("EVAL"), str_of(script_card), STR("1"), key));
	else if (record == RECORD_TERMINAL)
		rc = state_pipe_cmd(
		    p->pipe, STATE_ARGS(STR("HGET"), key, STR("v")));
	else
		rc = state_pipe_cmd(p->pipe, STATE_ARGS(STR("TYPE"), key));
	p->query[p->n].record = record;
	p->query[p->n].format = f;
	p->n++;
	if (rc == RC_OK && p->n == NELEM(p->query))
		rc = count_flush(p);
	return rc;
}

static enum rc
count_page(void *arg, const struct str *keys, size_t n)
{
	struct count_pass *p = arg;
	struct key_parts k;
	enum rc rc = RC_OK;
	bool known;
	size_t i;
	int f;

	for (i = 0; i < n && rc == RC_OK; i++) {
		if (str_eq(keys[i], STR(MIGRATION_KEY_FORMAT)))
			continue;
		p->c->keys++;
		known = false;
		for (f = FORMAT_1; f < FORMAT_N && rc == RC_OK; f++) {
			if (!key_parse(keys[i], (enum key_format)f, &k))
				continue;
			known = true;
			if (key_record_has_guard(k.record) ||
			    k.record == RECORD_TERMINAL)
				rc = count_query(
				    p, keys[i], k.record, (enum key_format)f);
			else
				p->c->n[k.record][f]++;
		}
		p->c->other += !known;
	}
	return rc;
}

enum rc
migration_count(struct migration *m, struct migration_counts *c)
{
	struct count_pass *p = mem_zalloc(sizeof(*p));
	enum rc rc;

	memset(c, 0, sizeof(*c));
	p->m = m;
	p->c = c;
	p->pipe = state_pipe_new(m->s, NELEM(p->query));
	rc = migration_scan(m, count_page, p);
	if (rc == RC_OK)
		rc = count_flush(p);
	state_pipe_free(p->pipe);
	free(p);
	return rc;
}

bool
migration_is_used(const struct migration_counts *c)
{
	int f;

	for (f = FORMAT_1; f < FORMAT_N; f++)
		if (c->n[RECORD_INSTANCE][f] > 0 || c->n[RECORD_LEASE][f] > 0)
			return true;
	return false;
}

/* ---- who is connected ---- */

/* The value of a field of CLIENT LIST; absent: it has none. */
static struct str
client_field(struct str line, struct str name)
{
	struct str field, value;

	while (line.p != NULL) {
		field = str_split(&line, ' ');
		value = field;
		if (str_eq(str_split(&value, '='), name))
			return value;
	}
	return (struct str){ NULL, 0 };
}

static bool
client_is_service(struct str name)
{
	static const struct str names[] = { STR_INIT("chat-gateway"),
		STR_INIT("emotion-engine"), STR_INIT("intent-filter"),
		STR_INIT("llm-orchestrator"), STR_INIT("memory-worker"),
		STR_INIT("mqtt-bridge") };
	size_t i;

	for (i = 0; i < NELEM(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static void
clients_add(struct buf *out, struct str name)
{
	if (str_find(buf_str(out), name) >= 0)
		return;
	buf_printf(out, "%s%.*s", out->n > 0 ? ", " : "", STR_ARG(name));
}

enum rc
migration_clients(struct state *s, struct buf *out)
{
	struct str rest, line, name, user;
	struct state_reply *r;
	size_t migrations = 0;
	enum rc rc;

	rc = state_cmd(s, STATE_ARGS(STR("CLIENT"), STR("LIST")), &r);
	rest = state_reply_str(r);
	while (rc == RC_OK && rest.p != NULL) {
		line = str_split(&rest, '\n');
		name = client_field(line, STR("name"));
		user = client_field(line, STR("user"));
		if (client_is_service(name))
			clients_add(out, name);
		else if (client_is_service(user))
			clients_add(out, user);
		migrations += str_eq(name, STR("migrate"));
	}
	if (migrations > 1)
		clients_add(out, STR("another migration"));
	state_reply_free(r);
	return rc;
}
