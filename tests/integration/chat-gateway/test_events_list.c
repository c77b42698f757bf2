/*
 * GET /v1/events: pages, and whose events a caller may read.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/event_fixture.h"

static struct gateway_fixture b;

#define NOTE "{\"level\":\"info\",\"message\":\"x\"}"

TEST(events_are_read_page_by_page)
{
	int i;

	gateway_fixture_start_alone(&b, NULL);
	/* Nobody has created the stream. */
	event_fixture_page(&b, "/v1/events", "0 -");
	tk_nats_events(b.nc);
	event_fixture_page(&b, "/v1/events", "0 -");
	for (i = 0; i < 40; i++)
		event_fixture_put(&b,
		    i % 10 == 3 ? "turn_completed" : "session_idle",
		    i % 20 == 3 ? "{\"user_id\":\"u1\",\"soul_id\":\"s1\"}"
				: "{\"user_id\":\"u2\",\"terminal_id\":\"t\"}");
	event_fixture_page(&b, "/v1/events?limit=3", "1 2 3 3 +");
	event_fixture_page(&b, "/v1/events?limit=3&cursor=37", "38 39 40 40 -");
	event_fixture_page(&b, "/v1/events?cursor=40", "40 -");
	/* Over several batches. */
	event_fixture_page(
	    &b, "/v1/events?types=turn_completed", "4 14 24 34 40 -");
	event_fixture_page(
	    &b, "/v1/events?types=turn_completed&limit=2", "4 14 14 +");
	event_fixture_page(&b,
	    "/v1/events?types=turn_completed,audit&soul_id=s1", "4 24 40 -");
	event_fixture_page(
	    &b, "/v1/events?types=turn_completed&terminal_id=t", "14 34 40 -");
	event_fixture_page(&b, "/v1/events?user_id=u1&cursor=5", "24 40 -");
	/* The oldest are gone. */
	event_fixture_purge(&b, 10);
	event_fixture_page(&b, "/v1/events?limit=2", "11 12 12 +");
	event_fixture_page(&b, "/v1/events?limit=2&cursor=10", "11 12 12 +");
	gw_rejects(&b, "GET", "/v1/events?cursor=9", NULL, 410,
	    "cursor: the events after it are no longer stored; the oldest "
	    "follows cursor 10");
	gw_rejects_as(
	    &b, NULL, "GET", "/v1/events?cursor=41", NULL, "410 cursor: ");
	gateway_fixture_stop(&b);
}

TEST(what_is_no_event_is_left_out)
{
	gateway_fixture_start_alone(&b, NULL);
	tk_nats_events(b.nc);
	event_fixture_put(&b, "session_idle", NOTE);
	event_fixture_put(&b, "no_such_type", NOTE);
	event_fixture_put(&b, "session_idle", "x");
	event_fixture_put(&b, "session_idle", "[1]");
	event_fixture_page(&b, "/v1/events?limit=1", "1 1 +");
	event_fixture_page(&b, "/v1/events?cursor=1", "4 4 -");
	gateway_fixture_stop(&b);
}

TEST(requests_are_checked)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "/v1/events?cursor=x", "400 cursor: must be the seq" },
		{ "/v1/events?cursor=-1", "400 cursor: must be the seq" },
		{ "/v1/events?limit=0", "400 limit: must be 1 to 500" },
		{ "/v1/events?limit=501", "400 limit: must be 1 to 500" },
		{ "/v1/events?types=", "400 types:  is no type" },
		{ "/v1/events?types=audit,tick",
		    "400 types: tick is no type of event, or not" },
		{ "/v1/events?user_id=u1&types=audit",
		    "400 types: audit is no type of event, or not" },
		{ "/v1/events?soul_id=", "400 soul_id: must be 1 to" },
		{ "/v1/events?terminal_id=%0a",
		    "400 terminal_id: must be 1 to" },
		{ "/v1/live?cursor=x", "400 cursor: must be the seq" },
		{ "/v1/live?types=tick", "400 types: tick is no type" },
	};
	size_t i;

	gateway_fixture_start_alone(&b, NULL);
	for (i = 0; i < NELEM(rows); i++)
		gw_rejects_as(
		    &b, NULL, "GET", rows[i].path, NULL, rows[i].text);
	gateway_fixture_stop(&b);
}

/* The events after the one that it returns, in this order. */
static int64_t
put_events_of_all(void)
{
	static const struct {
		const char *type, *payload;
	} rows[] = {
		{ "session_idle", "{}" },                            /* 0 */
		{ "turn_completed", "{\"user_id\":\"ann\"}" },       /* 1 */
		{ "turn_completed", "{\"user_id\":\"bob\"}" },       /* 2 */
		{ "turn_completed", "{\"user_id\":\"acme/ann\"}" },  /* 3 */
		{ "system_notification", NOTE },                     /* 4 */
		{ "terminal_online", "{\"terminal_id\":\"lamp\"}" }, /* 5 */
		{ "terminal_online",
		    "{\"terminal_id\":\"acme-lamp\"}" },                 /* 6 */
		{ "terminal_online", "{\"terminal_id\":\"unknown\"}" },  /* 7 */
		{ "report_refused", "{\"terminal_id\":\"acme-lamp\"}" }, /* 8 */
		{ "user_input", "{\"user_id\":\"ann\"}" },               /* 9 */
		{ "invoke_result", "{\"terminal_id\":\"lamp\"}" }, /* 10 */
	};
	int64_t first = 0, seq;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		seq = event_fixture_put(&b, rows[i].type, rows[i].payload);
		if (i == 0)
			first = seq;
	}
	ck_assert_int_eq(seq - first, (int64_t)NELEM(rows) - 1);
	return first;
}

/* Whether the page of audit events after a number has this one. */
static bool
has_audit(const char *token, int64_t after, int64_t seq)
{
	char path[96];
	bool is = false;
	json_t *j, *e;
	size_t i;

	snprintf(path, sizeof(path), "/v1/events?types=audit&cursor=%lld",
	    (long long)after);
	j = gw_json_as(&b, token, "GET", path, NULL);
	json_array_foreach (json_object_get(j, "items"), i, e)
		is |= tk_int(e, "seq") == seq;
	json_decref(j);
	return is;
}

#define TYPES                                                  \
	"/v1/events?types=turn_completed,system_notification," \
	"terminal_online,report_refused,user_input,invoke_result"

TEST(callers_read_what_is_theirs)
{
	int64_t first, before, acme, other;
	natsSubscription *audits;
	char soul[GW_SOUL_ID];

	gw_start_with_tokens(&b);
	tk_nats_events(b.nc);
	audits = gw_audit_subscribe(&b);
	gw_mint_ok_as(&b, TOKEN_PROVISIONER, "lamp");
	gw_mint_ok_as(&b, TOKEN_ACME_PROVISIONER, "acme-lamp");
	before = event_fixture_put(
	    &b, "terminal_online", "{\"terminal_id\":\"lamp\"}");
	gw_soul_as(&b, TOKEN_ANN, "a", soul);
	gw_bind_as(&b, TOKEN_ANN, "lamp", soul, NULL);
	/* The gateway's own events are stored. */
	json_decref(gw_audit_next(audits, "terminal_minted"));
	json_decref(gw_audit_next(audits, "terminal_minted"));
	json_decref(gw_audit_next(audits, "binding_changed"));
	/* What the body did before it was bound is not hers. */
	event_fixture_page_as(
	    &b, TOKEN_ANN, "/v1/events?types=terminal_online", before - 1, "");
	event_fixture_page_as(&b, TOKEN_PROVISIONER,
	    "/v1/events?types=terminal_online", before - 1, "1 ");
	first = put_events_of_all();

	event_fixture_page_as(&b, TOKEN_ANN, "/v1/events", first, "1 5 10 ");
	event_fixture_page_as(&b, TOKEN_BOB, "/v1/events", first, "2 ");
	event_fixture_page_as(&b, TOKEN_ACME_ANN, "/v1/events", first, "3 ");
	event_fixture_page_as(&b, TOKEN_ACME_EVE, "/v1/events", first, "");
	event_fixture_page_as(
	    &b, TOKEN_ACME_PROVISIONER, "/v1/events", first, "6 8 ");
	event_fixture_page_as(
	    &b, TOKEN_PROVISIONER, "/v1/events", first, "5 6 7 8 ");
	event_fixture_page_as(
	    &b, TOKEN_OPERATOR, TYPES, first, "1 2 3 4 5 6 7 8 9 10 ");
	event_fixture_page_as(&b, TOKEN_ACME_OPERATOR, TYPES, first, "3 6 8 ");
	event_fixture_page_as(
	    &b, TOKEN_OPERATOR, "/v1/events?user_id=bob", first, "2 ");

	other = event_fixture_put(&b, "audit", "{\"user_id\":\"bob\"}");
	acme = event_fixture_put(&b, "audit", "{\"tenant\":\"acme\"}");
	ck_assert(has_audit(TOKEN_OPERATOR, first, other));
	ck_assert(has_audit(TOKEN_OPERATOR, first, acme));
	ck_assert(has_audit(TOKEN_ACME_OPERATOR, first, acme));
	ck_assert(!has_audit(TOKEN_ACME_OPERATOR, first, other));
	gw_rejects_as(&b, TOKEN_ANN, "GET", "/v1/events?types=audit", NULL,
	    "400 types: audit is no type of event, or not for this role");
	gw_rejects_as(&b, TOKEN_ANN, "GET", "/v1/events?types=user_input", NULL,
	    "400 types: user_input");
	gw_rejects_as(&b, TOKEN_PROVISIONER, "GET",
	    "/v1/events?types=turn_completed", NULL, "400 types: turn");
	gw_rejects_as(
	    &b, TOKEN_ANN, "GET", "/v1/events?user_id=bob", NULL, "403 ");
	natsSubscription_Destroy(audits);
	gateway_fixture_stop(&b);
}
