/*
 * migration: two passes over all keys.  The first ends what does not move,
 * while the records that it is about are in their old places; the second moves
 * the rest.  On the way back a third one removes the guards that are left.
 */
#include "migrate/migration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/mem.h"
#include "migrate/migration_internal.h"
#include "migrate/migration_scripts.h"

#define UPGRADING "1>2"
#define REVERTING "2>1"
#define PIPE_MAX  64
#define CHUNK     512
/* A token that is in no key's pattern. */
#define MARK        "MARK"
#define PAGE_BYTES  (16UL * 1024 * 1024)
#define PRINT_MS    2000
#define CLIENTS_MS  1000
#define LINE_MAX    (2 * STATE_KEY_MAX)
#define CLIENTS_MAX 4096

/* Keys without an id, which have guards in their place in format 2. */
static const struct str migration_fixed[] = { STR_INIT("soul:idle:1"),
	STR_INIT("soul:ticks:1"), STR_INIT("soul:ticks:interval:1"),
	STR_INIT("soul:credentials:1"),
	STR_INIT("soul:credentials:version:1") };

/* What one script is called for. */
struct migration_batch {
	const char *script;
	size_t pair; /* keys of each record in it */
	size_t n;    /* of keys */
	struct str keys[2 * MIGRATION_BATCH_MAX + 2];
	size_t n_args;
	struct str args[2 * MIGRATION_BATCH_MAX + 2];
};

/* A pass. */
struct migration_pass {
	struct migration *m;
	struct state_pipe *pipe;
	struct state_pipe *reads;
	size_t queued; /* in pipe */
	size_t scripts;
	struct arena *a; /* texts of the page */
	struct migration_batch move, drop, unguard, terminal;
	int64_t seen, all; /* keys */
	struct mono printed, checked;
};

/* ---- small things ---- */

static void
migration_print(struct migration *m, const char *what, struct str s)
{
	char line[LINE_MAX];

	(void)snprintf(line, sizeof(line), "%s: %.*s\n", what, STR_ARG(s));
	m->print(m->arg, str_of(line));
}

/*
 * Copied into the page's memory, which has room for whatever a page needs;
 * absent stays absent.
 */
static struct str
pass_text(struct migration_pass *p, struct str s)
{
	struct str copy = arena_str(p->a, s);

	if (copy.p == NULL && s.p != NULL)
		abort();
	return copy;
}

static enum rc
migration_set(struct state *s, struct str format)
{
	if (format.n == 0)
		return state_cmd(
		    s, STATE_ARGS(STR("DEL"), STR(MIGRATION_KEY_FORMAT)), NULL);
	return state_cmd(
	    s, STATE_ARGS(STR("SET"), STR(MIGRATION_KEY_FORMAT), format), NULL);
}

/* RC_RETRY: what moves now may be written by a service. */
static enum rc
pass_check_clients(struct migration_pass *p)
{
	struct buf who = BUF_INIT(CLIENTS_MAX);
	enum rc rc;

	if (mono_diff_ms(clock_mono(), p->checked) < CLIENTS_MS)
		return RC_OK;
	p->checked = clock_mono();
	rc = migration_clients(p->m->s, &who);
	if (rc == RC_OK && who.n > 0) {
		migration_print(p->m, "stopped, because these have connected",
		    buf_str(&who));
		rc = RC_RETRY;
	}
	buf_free(&who);
	return rc;
}

/* ---- scripts ---- */

/* The keys that a script could not move to. */
static void
pass_conflicts(struct migration_pass *p, const struct state_reply *r)
{
	size_t i;

	for (i = 0; i < state_reply_len(r); i++)
		if (p->m->conflicts++ < MIGRATION_CONFLICTS_MAX)
			migration_print(p->m,
			    "not moved, because there is another record",
			    state_reply_str(state_reply_at(r, i)));
}

static enum rc
pass_flush(struct migration_pass *p)
{
	const struct state_reply *r;
	enum rc rc = state_pipe_run(p->pipe);
	size_t i;

	for (i = 0; rc == RC_OK && i < p->queued; i++) {
		rc = state_pipe_reply(p->pipe, i, &r);
		if (rc == RC_OK)
			pass_conflicts(p, r);
		else
			migration_print(p->m, "Redis", state_reply_str(r));
	}
	p->queued = 0;
	return rc;
}

/* Call a script, by and by; arguments are copied. */
static enum rc
pass_eval(struct migration_pass *p, const char *script, const struct str *keys,
    size_t n, const struct str *more, size_t n_more)
{
	struct str args[4 * MIGRATION_BATCH_MAX + 8];
	char num[STR_NUM_MAX];
	size_t used = 0;
	enum rc rc;

	if (p->m->scripts_max > 0 && p->scripts == p->m->scripts_max) {
		rc = pass_flush(p);
		return rc == RC_OK ? RC_TIMEOUT : rc;
	}
	p->scripts++;
	args[used++] = STR("EVAL");
	args[used++] = str_of(script);
	args[used++] = str_num((int64_t)n, num);
	memcpy(args + used, keys, n * sizeof(*keys));
	used += n;
	if (n_more > 0)
		memcpy(args + used, more, n_more * sizeof(*more));
	used += n_more;
	rc = state_pipe_cmd(p->pipe, args, used);
	if (rc == RC_OK && ++p->queued == PIPE_MAX)
		rc = pass_flush(p);
	return rc;
}

static enum rc
batch_flush(struct migration_pass *p, struct migration_batch *b)
{
	enum rc rc = RC_OK;

	if (b->n > 0)
		rc = pass_eval(p, b->script, b->keys, b->n, b->args, b->n_args);
	b->n = 0;
	/* Those of a terminal are the same for all. */
	if (b->script == script_move)
		b->n_args = 0;
	return rc;
}

static enum rc
batch_flush_if_full(struct migration_pass *p, struct migration_batch *b)
{
	return b->n == b->pair * p->m->batch ? batch_flush(p, b) : RC_OK;
}

static enum rc
batch_add(struct migration_pass *p, struct migration_batch *b, struct str key)
{
	b->keys[b->n++] = pass_text(p, key);
	return batch_flush_if_full(p, b);
}

/* ---- pages ---- */

static void
pass_progress(struct migration_pass *p, size_t n)
{
	char line[LINE_MAX];

	p->seen += (int64_t)n;
	if (mono_diff_ms(clock_mono(), p->printed) < PRINT_MS)
		return;
	p->printed = clock_mono();
	(void)snprintf(line, sizeof(line),
	    "%" PRId64 " of about %" PRId64 " keys\n", p->seen, p->all);
	p->m->print(p->m->arg, str_of(line));
}

/* ---- the first pass: what ends ---- */

static enum key_format
migration_to(const struct migration *m)
{
	return m->from == FORMAT_1 ? FORMAT_2 : FORMAT_1;
}

/* The key of a record that belongs to the same ids as k. */
static struct str
pass_sibling(struct migration_pass *p, const struct key_parts *k,
    enum key_record record, enum key_format f)
{
	struct key_parts other = *k;
	char text[STATE_KEY_MAX];
	struct str key = { NULL, 0 };

	other.record = record;
	/* Its ids have been parsed. */
	if (key_print(&other, f, text, &key) != RC_OK)
		abort();
	return pass_text(p, key);
}

/* A record's key of format f, up to the token of its second id. */
static struct str
pass_prefix(struct migration_pass *p, struct str owner, enum key_record record,
    enum key_format f, struct str *after)
{
	const struct key_parts k = { .record = record,
		.ids = { owner, STR(MARK) } };
	struct str key = pass_sibling(p, &k, record, f);
	size_t n = key.n - strlen(MARK);

	/* The last, because the owner may be called that, too. */
	while (memcmp(key.p + n, MARK, strlen(MARK)) != 0)
		n--;
	*after =
	    (struct str){ key.p + n + strlen(MARK), key.n - n - strlen(MARK) };
	return (struct str){ key.p, n };
}

static enum rc
pass_end_queue(
    struct migration_pass *p, struct str key, const struct key_parts *k)
{
	enum key_format f = p->m->from;
	const struct str keys[] = { key, pass_sibling(p, k, RECORD_SESSION, f),
		pass_sibling(p, k, RECORD_EVENTS, f) };
	struct str args[2];

	args[0] = pass_prefix(p, k->ids[0], RECORD_TURN, f, &args[1]);
	return pass_eval(p, script_queue, keys, NELEM(keys), args, 2);
}

static enum rc
pass_end_bindings(
    struct migration_pass *p, struct str key, const struct key_parts *k)
{
	struct str args[4] = { k->ids[0] }, after;

	args[1] = pass_prefix(p, k->ids[0], RECORD_SOUL, FORMAT_2, &after);
	args[2] = pass_prefix(p, k->ids[0], RECORD_BODIES, FORMAT_2, &args[3]);
	return pass_eval(p, script_bindings_end, &key, 1, args, NELEM(args));
}

static enum rc
pass_end_page(void *arg, const struct str *keys, size_t n)
{
	struct migration_pass *p = arg;
	struct str pair[2];
	struct key_parts k;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i++) {
		if (!key_parse(keys[i], p->m->from, &k))
			continue;
		pair[0] = keys[i];
		switch (k.record) {
		case RECORD_QUEUE:
			rc = pass_end_queue(p, keys[i], &k);
			break;
		case RECORD_USER_TERMINALS:
			if (p->m->from == FORMAT_2)
				rc = pass_end_bindings(p, keys[i], &k);
			break;
		case RECORD_EVENTS:
			if (p->m->from == FORMAT_2)
				rc = pass_eval(p, script_events_back, &keys[i],
				    1, NULL, 0);
			break;
		case RECORD_DELETING:
			pair[1] = pass_sibling(
			    p, &k, RECORD_USER_TERMINALS, FORMAT_2);
			rc = pass_eval(
			    p, script_deleting, pair, 2, &k.ids[0], 1);
			break;
		case RECORD_CREDENTIALS_CHANGING:
			pair[1] = pass_sibling(
			    p, &k, RECORD_CREDENTIALS_VERSION, FORMAT_2);
			rc = pass_eval(p, script_changing, pair, 2, NULL, 0);
			break;
		default:
			break;
		}
	}
	if (rc == RC_OK)
		rc = pass_flush(p);
	arena_reset(p->a);
	return rc == RC_OK ? pass_check_clients(p) : rc;
}

/* ---- the second pass: what moves ---- */

static enum rc
pass_move(struct migration_pass *p, struct str key, const struct key_parts *k)
{
	struct migration_batch *b = &p->move;
	bool up = p->m->from == FORMAT_1;
	struct str guard = STR("");

	if (up && k->record == RECORD_SOUL_NAMES)
		guard = pass_text(p, key);
	else if (up && k->record == RECORD_LEASE_EPOCH)
		guard = pass_sibling(p, k, RECORD_LEASE, FORMAT_1);
	b->keys[b->n++] = pass_text(p, key);
	b->keys[b->n++] = pass_sibling(p, k, k->record, migration_to(p->m));
	b->args[b->n_args++] = guard;
	return batch_flush_if_full(p, b);
}

/* Of a soul or turn; absent: it has none, or is no hash. */
struct record_fields {
	struct str owner, retry;
};

/* Of those of keys that are souls or turns; n is at most CHUNK. */
static enum rc
pass_read_fields(struct migration_pass *p, const struct str *keys, size_t n,
    struct record_fields *out)
{
	const struct state_reply *r;
	size_t i, used = 0, at[CHUNK];
	struct key_parts k;
	enum rc rc = RC_OK;

	memset(out, 0, n * sizeof(*out));
	for (i = 0; i < n && rc == RC_OK; i++) {
		if (!key_parse(keys[i], p->m->from, &k) ||
		    (k.record != RECORD_SOUL && k.record != RECORD_TURN))
			continue;
		at[used++] = i;
		rc = state_pipe_cmd(p->reads,
		    STATE_ARGS(
			STR("EVAL"), str_of(script_fields), STR("1"), keys[i]));
	}
	if (rc == RC_OK)
		rc = state_pipe_run(p->reads);
	for (i = 0; i < used && rc == RC_OK; i++) {
		rc = state_pipe_reply(p->reads, i, &r);
		out[at[i]].owner =
		    pass_text(p, state_reply_str(state_reply_at(r, 0)));
		out[at[i]].retry =
		    pass_text(p, state_reply_str(state_reply_at(r, 1)));
	}
	return rc;
}

/* Whether the owner of k is known now. */
static bool
pass_set_owner(const struct migration_pass *p, struct key_parts *k,
    const struct record_fields *fields)
{
	char id[ID_MAX + 1];

	if (p->m->from == FORMAT_1)
		k->ids[0] = fields->owner;
	return id_untoken(k->ids[0], id) == RC_OK;
}

static enum rc
pass_soul(struct migration_pass *p, struct key_parts *k,
    const struct record_fields *fields)
{
	static const enum key_record parts[] = { RECORD_SOUL, RECORD_SOUL_STATE,
		RECORD_SOUL_LOG, RECORD_BODIES };
	bool up = p->m->from == FORMAT_1;
	struct str keys[2 * NELEM(parts)];
	size_t i;

	/* A guard, or no soul: it is counted, and stays. */
	if (!pass_set_owner(p, k, fields))
		return RC_OK;
	for (i = 0; i < NELEM(parts); i++) {
		keys[i] = pass_sibling(p, k, parts[i], p->m->from);
		keys[NELEM(parts) + i] =
		    pass_sibling(p, k, parts[i], migration_to(p->m));
	}
	return pass_eval(p, up ? script_soul_up : script_soul_back, keys,
	    NELEM(keys), k->ids, NELEM(k->ids));
}

static enum rc
pass_turn(struct migration_pass *p, struct str key, struct key_parts *k,
    const struct record_fields *fields)
{
	struct str keys[2] = { key, { NULL, 0 } }, retry;
	char text[STATE_KEY_MAX];

	if (!pass_set_owner(p, k, fields))
		return RC_OK;
	if (key_rename(fields->retry, p->m->from, STR(""), text, &retry) !=
	    RC_OK)
		retry = STR("");
	keys[1] = pass_sibling(p, k, RECORD_TURN, migration_to(p->m));
	return pass_eval(p, script_turn, keys, 2, &retry, 1);
}

static enum rc
pass_pair(struct migration_pass *p, const char *script, struct str key,
    const struct key_parts *k)
{
	const struct str keys[] = { key,
		pass_sibling(p, k, k->record, migration_to(p->m)) };

	return pass_eval(p, script, keys, 2, &k->ids[0], 1);
}

static enum rc
pass_idle_back(struct migration_pass *p, struct str key)
{
	const struct str keys[] = { key, STR("soul:idle:1") };

	return pass_eval(p, script_idle_back, keys, 2, NULL, 0);
}

/* One key. */
static enum rc
pass_move_key(struct migration_pass *p, struct str key, struct key_parts *k,
    const struct record_fields *fields)
{
	bool up = p->m->from == FORMAT_1;

	switch (k->record) {
	case RECORD_SOUL:
		return pass_soul(p, k, fields);
	case RECORD_SOUL_STATE:
	case RECORD_SOUL_LOG:
	case RECORD_BODIES: /* with their soul */
	case RECORD_CREDENTIAL:
	case RECORD_QUEUE: /* in the first pass */
	case RECORD_DELETING:
	case RECORD_CREDENTIALS_CHANGING:
	case RECORD_N:
		return RC_OK;
	case RECORD_TURN:
		return pass_turn(p, key, k, fields);
	case RECORD_USER_TERMINALS:
		return pass_pair(
		    p, up ? script_bindings_up : script_bindings_back, key, k);
	case RECORD_TERMINAL:
		return batch_add(p, &p->terminal, key);
	case RECORD_IDLE:
		return up ? RC_OK : pass_idle_back(p, key);
	case RECORD_TICKS:
	case RECORD_TICK_INTERVAL:
	case RECORD_TIMERS:
	case RECORD_INSTANCE:
	case RECORD_LEASE: /* expired */
		return batch_add(p, &p->drop, key);
	default:
		return pass_move(p, key, k);
	}
}

/* Of a page. */
static enum rc
pass_move_chunk(struct migration_pass *p, const struct str *keys, size_t n)
{
	struct record_fields fields[CHUNK];
	struct key_parts k;
	enum rc rc = pass_read_fields(p, keys, n, fields);
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i++)
		if (key_parse(keys[i], p->m->from, &k))
			rc = pass_move_key(p, keys[i], &k, &fields[i]);
	return rc;
}

static enum rc
pass_move_page(void *arg, const struct str *keys, size_t n)
{
	struct migration_pass *p = arg;
	struct migration_batch *batch[] = { &p->move, &p->drop, &p->terminal };
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i += CHUNK)
		rc =
		    pass_move_chunk(p, keys + i, n - i < CHUNK ? n - i : CHUNK);
	for (i = 0; i < NELEM(batch) && rc == RC_OK; i++)
		rc = batch_flush(p, batch[i]);
	if (rc == RC_OK)
		rc = pass_flush(p);
	arena_reset(p->a);
	pass_progress(p, n);
	return rc == RC_OK ? pass_check_clients(p) : rc;
}

/* ---- the last pass on the way back: guards ---- */

static enum rc
pass_unguard_page(void *arg, const struct str *keys, size_t n)
{
	struct migration_pass *p = arg;
	struct key_parts k;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i++)
		if (key_parse(keys[i], FORMAT_1, &k) &&
		    key_record_has_guard(k.record))
			rc = batch_add(p, &p->unguard, keys[i]);
	if (rc == RC_OK)
		rc = batch_flush(p, &p->unguard);
	if (rc == RC_OK)
		rc = pass_flush(p);
	arena_reset(p->a);
	return rc == RC_OK ? pass_check_clients(p) : rc;
}

/* ---- idle sessions ---- */

/* One batch of them; *n is how many there were. */
static enum rc
pass_idle_batch(struct migration_pass *p, size_t *n)
{
	struct str keys[MIGRATION_BATCH_MAX + 1] = { STR("soul:idle:1") };
	struct str args[2 * MIGRATION_BATCH_MAX], member;
	char num[STR_NUM_MAX], text[STATE_KEY_MAX];
	const struct str drop[] = { STR("ZREM"), keys[0], { NULL, 0 } };
	struct state_reply *r;
	size_t i, used = 0;
	enum rc rc;

	rc = state_cmd(p->m->s,
	    STATE_ARGS(STR("EVAL"), str_of(script_first), STR("1"), keys[0],
		str_num((int64_t)p->m->batch - 1, num)),
	    &r);
	*n = state_reply_len(r) / 2;
	for (i = 0; i < *n && rc == RC_OK; i++) {
		member = state_reply_str(state_reply_at(r, 2 * i));
		if (key_idle(member, text, &keys[used + 1]) != RC_OK) {
			rc = state_cmd(p->m->s,
			    STATE_ARGS(drop[0], drop[1], member), NULL);
			continue;
		}
		keys[used + 1] = pass_text(p, keys[used + 1]);
		args[2 * used] = state_reply_str(state_reply_at(r, 2 * i + 1));
		args[2 * used + 1] = member;
		used++;
	}
	if (rc == RC_OK && used > 0)
		rc = pass_eval(
		    p, script_idle_up, keys, used + 1, args, 2 * used);
	if (rc == RC_OK)
		rc = pass_flush(p);
	state_reply_free(r);
	arena_reset(p->a);
	return rc;
}

static enum rc
pass_idle(struct migration_pass *p)
{
	size_t n;
	enum rc rc;

	do {
		rc = pass_idle_batch(p, &n);
	} while (rc == RC_OK && n > 0);
	return rc;
}

/* ---- all of it ---- */

static struct migration_pass *
pass_new(struct migration *m)
{
	struct migration_pass *p = mem_zalloc(sizeof(*p));
	bool up = m->from == FORMAT_1;

	p->m = m;
	p->pipe = state_pipe_new(m->s, PIPE_MAX);
	p->reads = state_pipe_new(m->s, CHUNK);
	p->a = arena_new(PAGE_BYTES);
	p->printed = clock_mono();
	p->checked = p->printed;
	p->move.script = script_move;
	p->move.pair = 2;
	p->drop.script = script_drop;
	p->unguard.script = script_unguard;
	p->terminal.script = script_terminal;
	p->drop.pair = p->unguard.pair = p->terminal.pair = 1;
	p->terminal.n_args = 2;
	p->terminal.args[0] = up ? STR("1") : STR("2");
	p->terminal.args[1] = up ? STR("2") : STR("1");
	return p;
}

static void
pass_free(struct migration_pass *p)
{
	state_pipe_free(p->pipe);
	state_pipe_free(p->reads);
	arena_free(p->a);
	free(p);
}

static enum rc
pass_fixed(struct migration_pass *p, const char *script)
{
	enum rc rc;

	rc = pass_eval(
	    p, script, migration_fixed, NELEM(migration_fixed), NULL, 0);
	return rc == RC_OK ? pass_flush(p) : rc;
}

static enum rc
pass_run(struct migration_pass *p)
{
	bool up = p->m->from == FORMAT_1;
	struct state_reply *r;
	enum rc rc;

	rc = migration_set(p->m->s, up ? STR(UPGRADING) : STR(REVERTING));
	if (rc == RC_OK)
		rc = state_cmd(p->m->s, STATE_ARGS(STR("DBSIZE")), &r);
	if (rc == RC_OK) {
		p->all = state_reply_int(r);
		state_reply_free(r);
		rc = migration_scan(p->m, pass_end_page, p);
	}
	if (rc == RC_OK && !up)
		rc = pass_fixed(p, script_unguard);
	if (rc == RC_OK && up)
		rc = pass_idle(p);
	if (rc == RC_OK)
		rc = migration_scan(p->m, pass_move_page, p);
	if (rc == RC_OK && up)
		rc = pass_fixed(p, script_guard);
	else if (rc == RC_OK)
		rc = migration_scan(p->m, pass_unguard_page, p);
	if (rc == RC_OK && p->m->conflicts > 0)
		rc = RC_CONFLICT;
	if (rc == RC_OK)
		rc = migration_set(p->m->s, up ? STR("2") : STR(""));
	return rc;
}

enum rc
migration_run(struct migration *m)
{
	struct state_mark mark =
	    state_mark_now(m->s, STR(MIGRATION_KEY_FORMAT));
	struct migration_pass *p = pass_new(m);
	enum rc rc = pass_run(p);

	pass_free(p);
	if (rc == RC_OK && state_wait_replicated(m->s, mark, 0) != RC_OK)
		rc = RC_TIMEOUT;
	return rc;
}
