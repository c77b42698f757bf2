/*
 * From a record to a message.
 */
#include "body.h"

#include "core/log.h"
#include "state/terminal.h"
#include "wire/wire.h"

/* Where copies go, and whether one did not fit. */
struct shelf {
	struct arena *a;
	enum rc rc;
};

static struct str
copy(struct shelf *sh, struct str s)
{
	struct str out = arena_str(sh->a, s);

	if (s.p != NULL && out.p == NULL)
		sh->rc = RC_TOOBIG;
	return out;
}

static struct str *
list(struct shelf *sh, size_t n)
{
	struct str *out = arena_alloc(sh->a, n * sizeof(*out));

	if (out == NULL)
		sh->rc = RC_TOOBIG;
	return out;
}

static bool
read_stored(struct str json, const struct wire_desc *d, struct arena *scratch,
    void *msg, struct str id)
{
	struct wire_err err;

	if (json.p == NULL)
		return false;
	if (wire_decode(d, json, scratch, msg, &err) == RC_OK)
		return true;
	log_error("gateway.stored", LOG_S("message", wire_desc_name(d)),
	    LOG_V("terminal", id), LOG_S("path", err.path),
	    LOG_S("why", err.why));
	return false;
}

static void
put_skills(struct shelf *sh, const struct terminal *t, struct arena *scratch,
    struct wire_terminal *out)
{
	struct wire_skills_report r;
	size_t i;

	if (!t->present ||
	    !read_stored(t->skills, &wire_skills_report_desc, scratch, &r,
		out->terminal_id))
		return;
	out->skills = list(sh, r.n_skills);
	for (i = 0; sh->rc == RC_OK && i < r.n_skills; i++)
		out->skills[out->n_skills++] = copy(sh, r.skills[i].name);
}

static void
put_intents(struct shelf *sh, const struct terminal *t, struct arena *scratch,
    struct wire_terminal *out)
{
	struct wire_intent_catalog_report r;
	size_t i;

	if (!t->present ||
	    !read_stored(t->catalog, &wire_intent_catalog_report_desc, scratch,
		&r, out->terminal_id))
		return;
	out->intents = list(sh, r.n_intent_catalog);
	for (i = 0; sh->rc == RC_OK && i < r.n_intent_catalog; i++)
		out->intents[out->n_intents++] =
		    copy(sh, r.intent_catalog[i].id);
}

/* Of each kind of report, and the newest of them, whose times compare. */
static void
put_refusals(struct shelf *sh, const struct terminal *t, struct arena *scratch,
    struct wire_terminal *out)
{
	struct wire_refusal *r;
	size_t i;

	out->refused = arena_alloc(sh->a, TERMINAL_REJECTED_N * sizeof(*r));
	if (out->refused == NULL)
		sh->rc = RC_TOOBIG;
	for (i = 0; sh->rc == RC_OK && i < TERMINAL_REJECTED_N; i++) {
		r = &out->refused[out->n_refused];
		if (!read_stored(t->rejected[i], &wire_refusal_desc, scratch, r,
			out->terminal_id))
			continue;
		r->path = copy(sh, r->path);
		r->reason = copy(sh, r->reason);
		r->at = copy(sh, r->at);
		if (!out->has_last_refused ||
		    str_cmp(out->last_refused.at, r->at) < 0)
			out->last_refused = *r;
		out->has_last_refused = true;
		out->n_refused++;
	}
	out->has_refused = out->n_refused > 0;
	if (!out->has_refused)
		out->refused = NULL;
}

enum rc
body_put(const struct terminal *t, struct str id, struct arena *scratch,
    struct arena *a, struct wire_terminal *out)
{
	struct shelf sh = { a, RC_OK };
	char seen[WALL_FORMAT_MAX];

	*out = (struct wire_terminal){
		.terminal_id = copy(&sh, id),
		.online = t->present,
		.broker = copy(&sh, t->broker),
		.skill_version = t->skill_version,
		.catalog_version = t->catalog_version,
		.soul_hint = copy(&sh, t->soul_hint),
		.user_id = copy(&sh, t->user_id),
		.soul_id = copy(&sh, t->soul_id),
	};
	if (t->seen.ms != 0) {
		wall_format(t->seen, 0, seen);
		out->last_seen = copy(&sh, str_of(seen));
	}
	put_skills(&sh, t, scratch, out);
	put_intents(&sh, t, scratch, out);
	put_refusals(&sh, t, scratch, out);
	return sh.rc;
}
