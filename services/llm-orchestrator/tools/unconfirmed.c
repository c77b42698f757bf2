/*
 * A JSON list in the session; results are read where the bridge stores them.
 */
#include "tools/unconfirmed.h"

#include "context.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "reply/reply_compose.h"
#include "state/terminal.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

#define LIST_MAX      ((size_t)32 * 1024)
#define SENTENCES_MAX ((size_t)8 * 1024)
#define WHY_MAX       1024

/* ---- the stored list ---- */

static struct str
unconfirmed_text(const struct wire_tree *v, struct str key, struct arena *a)
{
	struct str s = wire_tree_text(wire_tree_get(v, key));

	return s.n > 0 ? arena_str(a, s) : (struct str){ 0 };
}

void
unconfirmed_read(
    struct str json, int64_t now, struct arena *a, struct unconfirmed *out)
{
	struct wire_tree *v;

	out->n = 0;
	if (json.n == 0 || wire_tree_parse(json, &v) != RC_OK)
		return;
	for (size_t i = 0; i < wire_tree_len(v) && out->n < UNCONFIRMED_MAX;
	     i++) {
		const struct wire_tree *e = wire_tree_at(v, i);
		struct unconfirmed_item *it = &out->item[out->n];
		*it = (struct unconfirmed_item){
			.request_id = unconfirmed_text(e, STR("request_id"), a),
			.terminal_id =
			    unconfirmed_text(e, STR("terminal_id"), a),
			.skill = unconfirmed_text(e, STR("skill"), a),
			.label = unconfirmed_text(e, STR("label"), a),
			.since = (int64_t)wire_tree_number(
			    wire_tree_get(e, STR("since"))),
			.outcome = TURN_NOT_CONFIRMED,
		};
		if (it->request_id.n > 0 && it->terminal_id.n > 0 &&
		    it->skill.n > 0 && it->label.n > 0 &&
		    now - it->since < UNCONFIRMED_MS)
			out->n++;
	}
	wire_tree_free(v);
}

static void
unconfirmed_put(struct wire_out *o, struct str key, struct str value)
{
	wire_out_key(o, key);
	wire_out_str(o, value);
}

struct str
unconfirmed_write(const struct unconfirmed *l, bool reported, struct arena *a)
{
	struct buf b = BUF_INIT(LIST_MAX);
	struct wire_out o = { .b = &b };
	struct str s = STR("");
	size_t n = 0;

	wire_out_array(&o);
	for (size_t i = 0; i < l->n; i++) {
		const struct unconfirmed_item *it = &l->item[i];
		if (reported && it->outcome != TURN_NOT_CONFIRMED)
			continue;
		wire_out_object(&o);
		unconfirmed_put(&o, STR("request_id"), it->request_id);
		unconfirmed_put(&o, STR("terminal_id"), it->terminal_id);
		unconfirmed_put(&o, STR("skill"), it->skill);
		unconfirmed_put(&o, STR("label"), it->label);
		wire_out_key(&o, STR("since"));
		wire_out_i64(&o, it->since);
		wire_out_object_end(&o);
		n++;
	}
	wire_out_array_end(&o);
	if (n > 0)
		s = buf_rc(&b) == RC_OK ? arena_str(a, buf_str(&b))
					: (struct str){ 0 };
	buf_free(&b);
	return s;
}

void
unconfirmed_add(struct unconfirmed *l, const struct turn *t,
    struct str terminal, int64_t now)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *c = &t->calls[i];
		if (c->kind != TURN_INVOKE ||
		    c->outcome != TURN_NOT_CONFIRMED || c->request_id.n == 0)
			continue;
		if (l->n == UNCONFIRMED_MAX) {
			l->n--;
			memmove(&l->item[0], &l->item[1],
			    l->n * sizeof(l->item[0]));
		}
		l->item[l->n++] = (struct unconfirmed_item){
			.request_id = c->request_id,
			.terminal_id = terminal,
			.skill = c->skill,
			.label = c->label,
			.since = now,
			.outcome = TURN_NOT_CONFIRMED,
		};
	}
}

/* ---- sentences ---- */

struct str
unconfirmed_sentences(const struct unconfirmed *l, struct arena *a)
{
	struct buf b = BUF_INIT(SENTENCES_MAX);

	for (size_t i = 0; i < l->n; i++) {
		const struct unconfirmed_item *it = &l->item[i];
		if (it->outcome == TURN_NOT_CONFIRMED)
			continue;
		buf_puts(&b, "之前没有得到确认的");
		if (it->outcome == TURN_OK) {
			buf_put_str(&b, it->label);
			buf_puts(&b, "，后来已经完成。");
		} else {
			reply_put_error(&b, it->label, it->why);
		}
	}
	struct str s = reply_clean(buf_str(&b), SENTENCES_MAX, a);
	buf_free(&b);
	return s;
}

/* Set the outcome from a stored result; an invalid one is ignored. */
static void
unconfirmed_take_result(struct unconfirmed_item *it, struct str json,
    struct arena *scratch, struct arena *a)
{
	struct wire_result m;

	if (wire_decode(&wire_result_desc, json, scratch, &m, NULL) != RC_OK ||
	    !str_eq(m.request_id, it->request_id))
		return;
	it->outcome = m.ok ? TURN_OK : TURN_ERROR;
	if (!m.ok)
		it->why = reply_clean(m.error, WHY_MAX, a);
	log_info("turn.late_result", LOG_V("request", it->request_id),
	    LOG_I("ok", m.ok));
}

enum rc
unconfirmed_load(struct turn_run *r, struct str stored)
{
	struct arena *scratch = r->scratch;
	struct unconfirmed *l = arena_alloc(r->a, sizeof(*l));
	struct str json;

	if (l == NULL)
		return RC_TOOBIG;
	unconfirmed_read(stored, clock_wall().ms, r->a, l);
	r->facts.unconfirmed = l;
	r->facts.had_unconfirmed = stored.n > 0;
	for (size_t i = 0; i < l->n; i++) {
		arena_reset(scratch);
		enum rc rc =
		    terminal_get_result(r->o->state, l->item[i].terminal_id,
			l->item[i].request_id, scratch, &json);
		if (rc == RC_OK)
			unconfirmed_take_result(
			    &l->item[i], json, scratch, r->a);
		else if (rc != RC_NOENT && rc != RC_INVALID)
			return rc;
	}
	return RC_OK;
}

struct str
unconfirmed_save(const struct turn_run *r, bool reported)
{
	struct unconfirmed l = { .n = 0 };

	if (r->facts.unconfirmed != NULL)
		l = *r->facts.unconfirmed;
	unconfirmed_add(
	    &l, &r->turn, turn_chat(r)->terminal_id, clock_wall().ms);
	if (l.n == 0 && !r->facts.had_unconfirmed)
		return (struct str){ 0 };
	return unconfirmed_write(&l, reported, r->a);
}
