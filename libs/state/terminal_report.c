/*
 * terminal_report: what terminals report: presence, snapshots, rejections.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/terminal.h"

/* Scripts compare versions as doubles. */
#define VERSION_MAX ((INT64_C(1) << 53) - 1)

static void
report_begin(struct script_call *c, const struct state_script *script,
    const struct terminal_writer *w, struct str id)
{
	call_begin(c, script);
	if (!id_valid(w->broker) || w->epoch <= 0 || w->ttl_ms <= 0)
		c->rc = RC_INVALID;
	call_key(c, KEY_TERMINAL, id, STR_NONE);
	call_text(c, w->broker, ID_MAX);
	call_num(c, w->epoch);
	call_num(c, w->ttl_ms);
	call_num(c, w->replayed);
}

/* A field of a snapshot beside its version. */
struct snapshot_field {
	struct str name, value;
	size_t max;
};

static void
report_begin_snapshot(struct script_call *c, const struct terminal_writer *w,
    const struct terminal_report *r)
{
	const struct terminal_snapshot *snap = &r->snap;
	bool catalog = r->kind == TERMINAL_CATALOG;
	const struct snapshot_field fields[] = {
		{ catalog ? STR("ct") : STR("sk"), snap->json,
		    TERMINAL_JSON_MAX },
		catalog ? (struct snapshot_field){ STR("ch"), snap->hash,
			      TERMINAL_HASH_MAX }
			: (struct snapshot_field){ STR("hint"), snap->soul_hint,
			      TERMINAL_HINT_MAX },
	};
	size_t i;

	report_begin(c, &script_terminal_put_snapshot, w, r->id);
	if (snap->version < 0 || snap->version > VERSION_MAX)
		c->rc = RC_INVALID;
	call_text(c, catalog ? STR("cv") : STR("sv"), TERMINAL_HASH_MAX);
	call_num(c, snap->version);
	for (i = 0; i < NELEM(fields); i++) {
		call_text(c, fields[i].name, TERMINAL_HASH_MAX);
		call_text(c, fields[i].value, fields[i].max);
	}
}

static struct str
report_rejection_field(enum terminal_rejection_kind kind)
{
	static const char *const fields[TERMINAL_REJECTED_N] = { "ref:o",
		"ref:h", "ref:s", "ref:c", "ref:r" };

	return str_of(fields[kind]);
}

static void
report_begin_any(struct script_call *c, const struct terminal_writer *w,
    const struct terminal_report *r)
{
	switch (r->kind) {
	case TERMINAL_ONLINE:
	case TERMINAL_OFFLINE:
		report_begin(c, &script_terminal_set_online, w, r->id);
		call_num(c, r->kind == TERMINAL_ONLINE);
		break;
	case TERMINAL_HEARTBEAT:
		report_begin(c, &script_terminal_heartbeat, w, r->id);
		break;
	case TERMINAL_SKILLS:
	case TERMINAL_CATALOG:
		report_begin_snapshot(c, w, r);
		break;
	case TERMINAL_REJECTION:
		report_begin(c, &script_terminal_set_rejection, w, r->id);
		call_text(c, report_rejection_field(r->rejection.kind),
		    TERMINAL_HASH_MAX);
		call_text(c, r->rejection.json, TERMINAL_JSON_MAX);
		break;
	}
}

/* Elements of the script's reply. */
static size_t
report_elements(enum terminal_report_kind kind)
{
	return kind == TERMINAL_REJECTION ? 1 : 10;
}

static void
report_end(struct terminal_report *r, enum rc rc,
    const struct state_reply *reply, struct arena *a)
{
	struct record_reader rd = { .a = a };

	r->rc = rc;
	r->turned = state_reply_int(state_reply_at(reply, 1)) != 0;
	r->present = state_reply_int(state_reply_at(reply, 2)) != 0;
	r->current = state_reply_int(state_reply_at(reply, 3));
	r->differs = state_reply_int(state_reply_at(reply, 4)) != 0;
	r->user_id = record_id(&rd, state_reply_at(reply, 5));
	r->soul_id = record_id(&rd, state_reply_at(reply, 6));
	r->at = state_reply_int(state_reply_at(reply, 7));
	r->until = state_reply_int(state_reply_at(reply, 8));
	r->here = state_reply_int(state_reply_at(reply, 9)) != 0;
	if (rd.rc != RC_OK || r->user_id.p == NULL || r->soul_id.p == NULL)
		r->user_id = r->soul_id = STR_NONE;
}

static size_t
report_bytes(const struct terminal_report *r)
{
	return r->snap.json.n + r->snap.soul_hint.n + r->rejection.json.n;
}

/* How many of v fit a round trip: at least one. */
static size_t
report_trip(const struct terminal_report *v, size_t n)
{
	size_t i, bytes = 0;

	for (i = 0; i < n && i < STATE_PIPE_MAX; i++) {
		bytes += report_bytes(&v[i]);
		if (i > 0 && bytes > TERMINAL_TRIP_BYTES)
			break;
	}
	return i;
}

/*
 * One round trip.  A report that cannot be queued gets its rc; the others keep
 * their order.
 */
static enum rc
report_put_trip(struct state_pipe *p, const struct terminal_writer *w,
    struct terminal_report *v, size_t n, struct arena *a)
{
	const struct state_reply *reply;
	struct terminal_writer one = *w;
	size_t i, at = 0;
	struct script_call c;
	enum rc rc;

	for (i = 0; i < n; i++) {
		one.replayed = v[i].replayed;
		report_begin_any(&c, &one, &v[i]);
		v[i].rc = call_queue(p, &c);
	}
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++) {
		if (v[i].rc != RC_OK)
			continue;
		v[i].rc = state_pipe_reply(p, at++, &reply);
		if (v[i].rc == RC_INVALID)
			record_log_invalid(v[i].id, state_reply_str(reply));
		if (v[i].rc == RC_OK)
			report_end(&v[i],
			    call_status(reply, report_elements(v[i].kind)),
			    reply, a);
	}
	return at > 0 ? rc : RC_OK;
}

enum rc
terminal_put_reports(struct state *s, const struct terminal_writer *w,
    struct terminal_report *v, size_t n, struct arena *a)
{
	enum rc rc = RC_OK;
	struct state_pipe *p;
	size_t i, part;

	p = state_pipe_new(s, n);
	for (i = 0; i < n; i += part) {
		part = report_trip(v + i, n - i);
		if (rc == RC_OK)
			rc = report_put_trip(p, w, v + i, part, a);
		else
			for (size_t k = i; k < i + part; k++)
				v[k].rc = rc;
	}
	state_pipe_free(p);
	return rc;
}

/* ---- copies ---- */

static void
copy_queue(struct state_pipe *p, struct str broker, struct terminal_copy *v)
{
	struct script_call c;

	call_begin(&c, &script_terminal_copy);
	call_key(&c, KEY_BODIES, v->user_id, v->soul_id);
	call_key(&c, KEY_SOUL, v->user_id, v->soul_id);
	call_key_of(&c, KEY_TICKS, v->user_id, STR_NONE);
	call_tokens(&c, v->user_id, ':', v->soul_id);
	call_token(&c, v->id);
	call_num(&c, v->until);
	call_num(&c, v->at);
	call_text(&c, broker, ID_MAX);
	v->rc = call_queue(p, &c);
}

static void
copy_read(struct state_pipe *p, size_t at, struct terminal_copy *v)
{
	const struct state_reply *r;

	v->rc = state_pipe_reply(p, at, &r);
	if (v->rc == RC_INVALID)
		record_log_invalid(v->id, state_reply_str(r));
	if (v->rc == RC_OK)
		v->rc = call_status(r, 2);
	v->ticks = v->rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
}

/* One round trip. */
static enum rc
copy_put_trip(
    struct state_pipe *p, struct str broker, struct terminal_copy *v, size_t n)
{
	size_t i, at = 0;
	enum rc rc;

	for (i = 0; i < n; i++)
		copy_queue(p, broker, &v[i]);
	rc = state_pipe_run(p);
	for (i = 0; i < n; i++)
		if (v[i].rc == RC_OK)
			copy_read(p, at++, &v[i]);
	return at > 0 ? rc : RC_OK;
}

enum rc
terminal_put_copies(
    struct state *s, struct str broker, struct terminal_copy *v, size_t n)
{
	struct state_pipe *p = state_pipe_new(s, n);
	enum rc rc = RC_OK;
	size_t i, k, part;

	for (i = 0; i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		if (rc == RC_OK)
			rc = copy_put_trip(p, broker, v + i, part);
		else
			for (k = i; k < i + part; k++)
				v[k].rc = rc;
	}
	state_pipe_free(p);
	return rc;
}
