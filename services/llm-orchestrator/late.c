/*
 * A list of objects in JSON.
 */
#include "late.h"

#include "core/buf.h"
#include "core/mem.h"
#include "reply.h"
#include "wire/out.h"
#include "wire/tree.h"

#define TEXT_MAX ((size_t)32 * 1024)
#define SAID_MAX ((size_t)8 * 1024)

/* ---- what a session keeps ---------------------------------------------- */

static struct str
text_of(const struct wire_tree *v, struct str key, struct arena *a)
{
	struct str s = wire_tree_text(wire_tree_get(v, key));

	return s.n > 0 ? arena_str(a, s) : (struct str){ 0 };
}

void
late_read(struct str json, int64_t now, struct arena *a, struct late_list *out)
{
	struct wire_tree *v;

	out->n = 0;
	if (json.n == 0 || wire_tree_parse(json, &v) != RC_OK)
		return;
	for (size_t i = 0; i < wire_tree_len(v) && out->n < LATE_MAX; i++) {
		const struct wire_tree *e = wire_tree_at(v, i);
		struct late_item *it = &out->item[out->n];
		*it = (struct late_item){
			.request_id = text_of(e, STR("request_id"), a),
			.terminal_id = text_of(e, STR("terminal_id"), a),
			.skill = text_of(e, STR("skill"), a),
			.label = text_of(e, STR("label"), a),
			.since = (int64_t)wire_tree_number(
			    wire_tree_get(e, STR("since"))),
			.outcome = TURN_NOT_CONFIRMED,
		};
		if (it->request_id.n > 0 && it->terminal_id.n > 0 &&
		    it->skill.n > 0 && it->label.n > 0 &&
		    now - it->since < LATE_MS)
			out->n++;
	}
	wire_tree_free(v);
}

static void
put_pair(struct wire_out *o, struct str key, struct str value)
{
	wire_out_key(o, key);
	wire_out_str(o, value);
}

struct str
late_write(const struct late_list *l, bool told, struct arena *a)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	struct wire_out o = { .b = &b };
	struct str s = STR("");
	size_t n = 0;

	wire_out_array(&o);
	for (size_t i = 0; i < l->n; i++) {
		const struct late_item *it = &l->item[i];
		if (told && it->outcome != TURN_NOT_CONFIRMED)
			continue;
		wire_out_object(&o);
		put_pair(&o, STR("request_id"), it->request_id);
		put_pair(&o, STR("terminal_id"), it->terminal_id);
		put_pair(&o, STR("skill"), it->skill);
		put_pair(&o, STR("label"), it->label);
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
late_add(
    struct late_list *l, const struct turn *t, struct str terminal, int64_t now)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->kind != TURN_INVOKE ||
		    d->outcome != TURN_NOT_CONFIRMED || d->request_id.n == 0)
			continue;
		if (l->n == LATE_MAX) {
			l->n--;
			memmove(&l->item[0], &l->item[1],
			    l->n * sizeof(l->item[0]));
		}
		l->item[l->n++] = (struct late_item){
			.request_id = d->request_id,
			.terminal_id = terminal,
			.skill = d->skill,
			.label = d->label,
			.since = now,
			.outcome = TURN_NOT_CONFIRMED,
		};
	}
}

/* ---- what is told ------------------------------------------------------ */

struct str
late_said(const struct late_list *l, struct arena *a)
{
	struct buf b = BUF_INIT(SAID_MAX);

	for (size_t i = 0; i < l->n; i++) {
		const struct late_item *it = &l->item[i];
		if (it->outcome == TURN_NOT_CONFIRMED)
			continue;
		buf_puts(&b, "之前没有得到确认的");
		if (it->outcome == TURN_OK) {
			buf_put_str(&b, it->label);
			buf_puts(&b, "，后来已经完成。");
		} else {
			reply_say_error(&b, it->label, it->why);
		}
	}
	struct str s = reply_clean(buf_str(&b), SAID_MAX, a);
	buf_free(&b);
	return s;
}
