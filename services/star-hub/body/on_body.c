/*
 * on_body: reports of environments: what can be done in them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "body/body.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/worker.h"
#include "svc/svc.h"
#include "terminal/snapshot_parse.h"
#include "wire/out.h"
#include "wire/wire.h"

/* A decoded report and its compact JSON. */
#define ARENA_BYTES (WIRE_ARENA_MAX + 2UL * 1024 * 1024)

struct report_job {
	struct body *b;
	struct arena *a;
	struct str id, data; /* in a */
	bool catalog;
	struct fiber *fiber;
	/* Set by the worker. */
	enum rc rc;
	struct snapshot snap;
	struct wire_err err;
};

static void
report_parse(void *arg)
{
	struct report_job *j = arg;
	struct snapshot_parser *p = j->b->all->parser;
	const struct str none = STR("");

	/* A report that names a terminal is none of an environment. */
	j->rc = j->catalog
	    ? snapshot_parse_catalog(p, j->data, none, j->a, &j->snap, &j->err)
	    : snapshot_parse_skills(p, j->data, none, j->a, &j->snap, &j->err);
}

static void
report_parsed(void *arg)
{
	struct report_job *j = arg;

	fiber_resume(j->fiber);
}

/* ---- the outcome ---- */

static void
report_reply(struct report_job *j, bool ok, const char *message)
{
	struct body *b = j->b;
	struct hub *h = b->all->h;
	struct wire_out o = { .b = &h->out };

	if (!body_is_up(b))
		return;
	hub_message_begin(&o, "message", &b->client->identity);
	wire_out_object(&o);
	hub_put(&o, "type", STR("outcome"));
	wire_out_key(&o, STR("id"));
	wire_out_raw(&o, j->id);
	wire_out_key(&o, STR("outcome"));
	wire_out_object(&o);
	hub_put(&o, "status", ok ? STR("success") : STR("error"));
	hub_put(&o, "message", str_of(message));
	wire_out_key(&o, STR("data"));
	wire_out_object(&o);
	wire_out_key(&o, STR("version"));
	wire_out_i64(&o, j->rc == RC_OK ? j->snap.version : 0);
	wire_out_key(&o, STR("count"));
	wire_out_i64(&o, j->rc == RC_OK ? (int64_t)j->snap.n_names : 0);
	wire_out_object_end(&o);
	wire_out_object_end(&o);
	hub_put(&o, "outcome_type", STR("dict"));
	wire_out_object_end(&o);
	hub_message_end(&o, hub_now(h));
	if (!client_send_text(h, b->client) && body_is_up(b))
		client_drop(h, b->client);
}

static void
report_reject(struct report_job *j)
{
	char text[WIRE_ERR_TEXT_MAX];

	wire_err_text(&j->err, text, sizeof(text));
	metric_add(j->b->all->metrics.rejected, 1);
	report_reply(j, false, text);
}

/* ---- storing ---- */

static char *
report_copy(struct str s)
{
	return s.p != NULL ? str_dup(s) : NULL;
}

static void
report_set(struct body_snapshot *s, const struct snapshot *from)
{
	free(s->json);
	free(s->hash);
	s->known = true;
	s->gen++;
	s->version = from->version;
	s->json = report_copy(from->json);
	s->hash = report_copy(from->hash);
}

static void
report_store(struct report_job *j)
{
	struct body *b = j->b;
	struct body_snapshot *s = j->catalog ? &b->catalog : &b->skills;
	char text[WIRE_ERR_TEXT_MAX];
	struct resident *r;

	b->newer = 0;
	/* No roll-back, as over MQTT. */
	if (s->known && s->version > 0 && j->snap.version < s->version)
		b->newer = s->version;
	else
		report_set(s, &j->snap);
	TAILQ_FOREACH (r, &b->residents, link)
		if (!resident_report(r))
			b->synced = (struct mono){ 0 };
	if (b->newer == 0) {
		metric_add(b->all->metrics.reports, 1);
		report_reply(j, true,
		    j->snap.note.why[0] != '\0' ? j->snap.note.why : "stored");
		return;
	}
	(void)snprintf(text, sizeof(text),
	    "the version %lld is ignored: %lld is known, and it must not fall",
	    (long long)j->snap.version, (long long)b->newer);
	metric_add(b->all->metrics.rejected, 1);
	report_reply(j, false, text);
}

static void
report_run(void *arg)
{
	struct report_job *j = arg;
	struct body *b = j->b;

	body_hold(b);
	/* In the order of arrival. */
	fiber_lock(&b->lock);
	j->fiber = fiber_self();
	j->rc = RC_DOWN;
	(void)snprintf(j->err.why, sizeof(j->err.why),
	    "cannot be read now; send it again");
	if (worker_run(b->all->reader, report_parse, report_parsed, j) == RC_OK)
		fiber_suspend();
	if (j->rc != RC_OK)
		report_reject(j);
	else if (body_is_up(b))
		report_store(j);
	fiber_unlock(&b->lock);
	arena_free(j->a);
	free(j);
	body_release(b);
}

const char *
body_report(struct hub *h, struct client *c, const struct body_report *r)
{
	char text[IDENTITY_KEY_MAX];
	struct body *b;
	struct report_job *j;

	if (c->identity.class != CLASS_ENVIRONMENT)
		return "only environments report what can be done in them";
	b = map_get(h->bodies->by_key, client_env_key(c, text));
	if (b == NULL || b->client != c)
		return "the environment is not connected yet";
	j = mem_zalloc(sizeof(*j));
	j->b = b;
	j->a = arena_new(ARENA_BYTES);
	j->id = arena_str(j->a, r->id);
	j->data = arena_str(j->a, r->data);
	j->catalog = r->catalog;
	fiber_start(report_run, j);
	return NULL;
}
