/*
 * /v1/webhooks: what a receiver gets that is down for a while, and who cannot
 * be one.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "state/webhook.h"
#include "testkit/event_fixture.h"
#include "testkit/scripted_http.h"
#include "webhooks/webhook_sign.h"

#define KEY  "SECRETS_KEY=k:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define IDLE "session_idle"

static struct gateway_fixture b;
static const char *const private_ok[] = { KEY, "WEBHOOK_ALLOW_PRIVATE=on",
	"WEBHOOK_RETRY_MS=50", NULL };
static const struct scripted_http_rule confirms[] = {
	{ "POST /hook", SCRIPTED_STATUS("204 No Content"), false },
	{ "POST /other", SCRIPTED_STATUS("204 No Content"), false }
};
static const struct scripted_http_rule rejects[] = {
	{ "POST /hook", SCRIPTED_STATUS("503 Service Unavailable"), false },
	{ "POST /other", SCRIPTED_STATUS("204 No Content"), false }
};
static int port;
static char id[128], secret[128];

static void
start_all(const char *const *more, const struct scripted_http_rule *rules)
{
	port = scripted_http_open(rules, 2);
	gateway_fixture_start_alone(&b, more);
	tk_nats_events(b.nc);
}

static void
stop_all(void)
{
	gateway_fixture_stop(&b);
	scripted_http_close();
}

static void
create(const char *path, const char *more)
{
	char body[512];
	json_t *j;

	snprintf(body, sizeof(body),
	    "{\"url\":\"http://127.0.0.1:%d%s\",\"user_id\":\"u1\"%s}", port,
	    path, more);
	j = gw_json(&b, "POST", "/v1/webhooks", body);
	snprintf(id, sizeof(id), "%s", tk_text(j, "id"));
	snprintf(secret, sizeof(secret), "%s", tk_text(j, "secret"));
	json_decref(j);
}

static int64_t
put_idle(int n)
{
	char payload[96];

	snprintf(payload, sizeof(payload),
	    "{\"user_id\":\"u1\",\"session_id\":\"n-%d-\"}", n);
	return event_fixture_put(&b, IDLE, payload);
}

static void
wait_for(const char *text, size_t n)
{
	struct scripted_http_want want = { text, n };

	ck_assert_msg(tk_until(scripted_http_count_is, &want, GW_MS),
	    "%zu requests with %s", scripted_http_count(text), text);
}

static json_t *
webhook(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/v1/webhooks/%s?user_id=u1", id);
	return gw_json(&b, "GET", path, NULL);
}

static const char *wanted;

static bool
webhook_has(void *arg)
{
	json_t *j = webhook();
	char *text = json_dumps(j, 0);
	bool has = strstr(text, wanted) != NULL;

	(void)arg;

	free(text);
	json_decref(j);
	return has;
}

static void
wait_state(const char *text)
{
	wanted = text;
	ck_assert_msg(tk_until(webhook_has, NULL, GW_MS), "no %s", text);
}

static struct str
header(const char *request, const char *name)
{
	const char *at = strstr(request, name);

	ck_assert_ptr_nonnull(at);
	at += strlen(name) + 2;
	return (struct str){ at, (size_t)(strchr(at, '\r') - at) };
}

static void
check_signature(const char *request)
{
	char mac[WEBHOOK_SIGNATURE_MAX];
	const struct str parts[] = { header(request, "webhook-id"),
		header(request, "webhook-timestamp"),
		str_of(strstr(request, "\r\n\r\n") + 4) };

	ck_assert_int_eq(webhook_sign(str_of(secret), parts, mac), RC_OK);
	ck_assert(str_eq(header(request, "webhook-signature"), str_of(mac)));
}

TEST(a_receiver_that_was_down_gets_every_event_in_order)
{
	char text[32];
	json_t *j;
	int i;

	start_all(private_ok, rejects);
	create("/hook", ",\"types\":[\"session_idle\"]");
	for (i = 1; i <= 5; i++)
		(void)put_idle(i);
	event_fixture_put(&b, "turn_completed", "{\"user_id\":\"u1\"}");
	event_fixture_put(&b, IDLE, "{\"user_id\":\"u2\"}");
	/* Those behind it wait. */
	wait_for("n-1-", 3);
	ck_assert_uint_eq(scripted_http_count("n-2-"), 0);
	wait_state("\"pending\": 5");
	j = webhook();
	ck_assert_str_eq(tk_text(j, "state"), "failing");
	ck_assert_int_eq(tk_int(j, "last_status"), 503);
	ck_assert_str_eq(tk_text(j, "last_error"), "status 503");
	ck_assert_ptr_null(json_object_get(j, "secret"));
	json_decref(j);
	/* All processes may end meanwhile. */
	tk_service_end(&b.gateway);
	gateway_fixture_spawn(&b, &b.gateway, "chat-gateway", private_ok);
	scripted_http_switch(confirms, 2);
	wait_for("n-5-", 1);
	wait_state("\"pending\": 0");
	for (i = 2; i <= 5; i++) {
		snprintf(text, sizeof(text), "n-%d-", i);
		ck_assert_uint_eq(scripted_http_count(text), 1);
		check_signature(scripted_http_request(text, 0));
	}
	/* What it does not want, and what others have, it does not get. */
	ck_assert_uint_eq(scripted_http_count("turn_completed"), 0);
	ck_assert_uint_eq(scripted_http_count("\"u2\""), 0);
	ck_assert(gw_has_metric(&b, "soul_webhook_sent_total 5\n"));
	/* It has the same id whenever it is sent. */
	ck_assert(str_eq(header(scripted_http_request("n-1-", 0), "webhook-id"),
	    header(scripted_http_request("n-1-", 1), "webhook-id")));
	stop_all();
}

TEST(one_receiver_that_is_down_holds_up_no_other)
{
	start_all(private_ok, rejects);
	create("/hook", "");
	create("/other", "");
	for (int i = 1; i <= 20; i++)
		(void)put_idle(i);
	wait_for("POST /other", 20);
	ck_assert_uint_eq(scripted_http_count("n-20-"), 1);
	wait_for("POST /hook", 2);
	stop_all();
}

TEST(an_event_that_fails_too_often_is_given_up_and_sent_on_request)
{
	static const char *const twice[] = { KEY, "WEBHOOK_ALLOW_PRIVATE=on",
		"WEBHOOK_RETRY_MS=20", "WEBHOOK_TRIES=2", NULL };
	char path[256];

	start_all(twice, rejects);
	create("/hook", "");
	(void)put_idle(1);
	(void)put_idle(2);
	wait_state("\"dead\": 2");
	ck_assert_uint_eq(scripted_http_count("n-1-"), 2);
	ck_assert(gw_has_metric(&b, "soul_webhook_dead_total 2\n"));
	scripted_http_switch(confirms, 2);
	snprintf(
	    path, sizeof(path), "/v1/webhooks/%s/redeliver?user_id=u1", id);
	gw_ok(&b, "POST", path, NULL);
	wait_for("n-2-", 3);
	wait_state("\"dead\": 0");
	wait_state("\"pending\": 0");
	stop_all();
}

TEST(a_hostile_url_is_rejected_or_not_connected_to)
{
	static const char *const strict[] = { KEY, "WEBHOOK_RETRY_MS=20",
		NULL };
	static const struct {
		const char *url, *why;
	} rows[] = {
		{ "http://hook.example/", "url: must be https" },
		{ "file:///etc/passwd",
		    "url: must begin with https:// or http://" },
		{ "https://u:p@hook.example/",
		    "url: must have no user, password or escapes before its "
		    "path" },
		{ "https://a.example\\\\@127.0.0.1/",
		    "url: too long, or a character that must be escaped" },
	};
	static const char *const targets[] = { "127.0.0.1", "[::1]",
		"169.254.169.254", "localhost", "2130706433" };
	char body[256];

	start_all(strict, confirms);
	for (size_t i = 0; i < NELEM(rows); i++) {
		snprintf(body, sizeof(body), "{\"url\":\"%s\"}", rows[i].url);
		gw_rejects(&b, "POST", "/v1/webhooks", body, 400, rows[i].why);
	}
	for (size_t i = 0; i < NELEM(targets); i++) {
		json_t *j;

		snprintf(body, sizeof(body),
		    "{\"url\":\"https://%s:%d/hook\",\"user_id\":\"u1\"}",
		    targets[i], port);
		j = gw_json(&b, "POST", "/v1/webhooks", body);
		snprintf(id, sizeof(id), "%s", tk_text(j, "id"));
		json_decref(j);
	}
	(void)put_idle(1);
	wait_state("the address is not public");
	ck_assert(gw_has_metric(&b, "soul_webhook_sent_total 0\n"));
	ck_assert_uint_eq(scripted_http_connections(), 0);
	stop_all();
}

TEST(webhooks_are_of_their_user_and_limited)
{
	char body[256], path[256];
	natsSubscription *audits;
	json_t *j;
	int i;

	start_all(private_ok, confirms);
	audits = gw_audit_subscribe(&b);
	gw_rejects(&b, "POST", "/v1/webhooks",
	    "{\"url\":\"https://a.example\",\"types\":[\"audit\"]}", 400,
	    "types: audit is no type of event, or not for this role");
	for (i = 0; i < WEBHOOKS_MAX; i++)
		create("/hook", "");
	json_decref(gw_audit_next(audits, "webhook_created"));
	snprintf(body, sizeof(body),
	    "{\"url\":\"http://127.0.0.1:%d/hook\",\"user_id\":\"u1\"}", port);
	gw_rejects(&b, "POST", "/v1/webhooks", body, 409,
	    "this user has as many webhooks as a user may have");
	j = gw_json(&b, "GET", "/v1/webhooks?user_id=u1", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "webhooks")), WEBHOOKS_MAX);
	json_decref(j);
	snprintf(path, sizeof(path), "/v1/webhooks/%s?user_id=u2", id);
	gw_rejects(&b, "GET", path, NULL, 404, "webhook not found");
	gw_rejects(&b, "DELETE", path, NULL, 404, "webhook not found");
	snprintf(path, sizeof(path), "/v1/webhooks/%s?user_id=u1", id);
	gw_ok(&b, "DELETE", path, NULL);
	gw_rejects(&b, "DELETE", path, NULL, 404, "webhook not found");
	(void)put_idle(1);
	wait_for("n-1-", WEBHOOKS_MAX - 1);
	natsSubscription_Destroy(audits);
	stop_all();
}

TEST(without_a_key_webhooks_are_off)
{
	start_all(NULL, confirms);
	gw_rejects(&b, "POST", "/v1/webhooks",
	    "{\"url\":\"https://hook.example\"}", 503,
	    "webhooks are off: the operator has set no SECRETS_KEY");
	stop_all();
}
