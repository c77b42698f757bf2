/* What the hub counts. */
#include <stdio.h>

#include "testkit/star_fixture.h"
#include "testkit/tokens.h"

#define REJECTED(reason) \
	"soul_star_handshakes_rejected_total{reason=\"" reason "\"}"

static void
expect_rejected(struct star_fixture *f, const char *path, const char *headers,
    int status, const char *metric)
{
	long long before = tk_service_metric(&f->hub, metric);
	struct tk_ws c;

	ck_assert_int_eq(tk_ws_open(&c, f->hub.http, path, headers), status);
	tk_ws_close(&c);
	ck_assert_int_eq(tk_service_metric(&f->hub, metric), before + 1);
}

TEST(rejected_handshakes_are_counted_by_their_reason)
{
	static const struct tk_token list[] = {
		{ "body-0123456789abcdef", "\"role\":\"provisioner\"" },
	};
	const char *path = tk_path("tokens.json");
	struct star_fixture f = { 0 };
	char setting[600];

	tk_tokens_write(path, list, 1);
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	star_start(&f, TK_ENV(setting));
	expect_rejected(&f, "/nowhere", NULL, 404, REJECTED("path"));
	expect_rejected(&f, "/human/ab", NULL, 400, REJECTED("request"));
	expect_rejected(&f, "/human/bob", "Authorization: Bearer wrong\r\n",
	    401, REJECTED("token"));
	expect_rejected(&f, "/human/bob",
	    "Authorization: Bearer body-0123456789abcdef\r\n", 403,
	    REJECTED("denied"));
	expect_rejected(&f, "/human/bob", "Origin: http://example.com\r\n", 403,
	    REJECTED("denied"));
	star_stop(&f);
}

static bool
queues_are_observed(void *arg)
{
	struct star_fixture *f = arg;

	return tk_service_metric(&f->hub, "soul_star_queue_bytes_count") >= 2;
}

TEST(queues_are_observed_with_heartbeats)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, TK_ENV("STAR_HEARTBEAT_MS=100"));
	star_open(&f, &c, "/human/bob");
	ck_assert(tk_until(queues_are_observed, &f, 20000));
	/* A ping of the same moment may be before it. */
	ck_assert_int_ge(tk_service_metric(&f.hub,
			     "soul_star_queue_bytes_bucket{le=\"256\"}"),
	    2);
	tk_ws_close(&c);
	star_stop(&f);
}
