/*
 * Each service with HTTP publishes an audit event for a rejected request, with
 * no more than its own NATS permissions.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/rights.h"
#include "testkit/service.h"
#include "testkit/tokens.h"

#define WAIT_MS 20000
#define TRACE   "0af7651916cd43dd8448eb211c80319c"

/* A request without a token, and one with a token that is not permitted. */
static const struct face {
	const char *program, *method, *path;
	const char *route;
	const char *role; /* that is not permitted */
} faces[] = {
	{ "emotion-engine", "GET", "/v1/emotion/pad-table", "pad-table",
	    "\"role\":\"terminal\",\"terminal_id\":\"lamp\"" },
	{ "intent-filter", "POST", "/v1/intents/filter", "filter",
	    "\"role\":\"terminal\",\"terminal_id\":\"lamp\"" },
	{ "llm-sim", "POST", "/v1/chat/completions", "chat",
	    "\"role\":\"terminal\",\"terminal_id\":\"lamp\"" },
};

struct scene {
	const struct face *f;
	struct tk_server nats, redis;
	struct tk_service s;
	natsConnection *nc;
	natsSubscription *received;
};

static void
start(struct scene *sc, const char *auth)
{
	const char *name = sc->f->program;
	struct tk_env e = { 0 };
	char log[64];

	snprintf(log, sizeof(log), "%s%s", name, auth != NULL ? "" : "-open");
	tk_env_put(&e, "NATS_URL=%s", sc->nats.url);
	tk_env_put(&e, "NATS_USER=%s", name);
	tk_env_put(&e, "NATS_PASSWORD=" TK_PASSWORD "%s", name);
	tk_env_put(&e, "REDIS_URL=%s", sc->redis.url);
	tk_env_list(&e, TK_ENV(auth));
	tk_service_start(&sc->s, name, log, &e);
}

static void
request(struct scene *sc, const char *token, int status)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    tk_http_call(sc->s.http, &a,
		"%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		"traceparent: 00-" TRACE "-b7ad6b7169203331-01\r\n"
		"Authorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{}",
		sc->f->method, sc->f->path, token),
	    status);
	tk_response_free(&a);
}

static void
want(struct scene *sc, const char *action, const char *reason)
{
	char subject[TK_SUBJECT];
	json_t *j = tk_nats_next(sc->received, WAIT_MS, subject);

	ck_assert_msg(j != NULL, "%s: no %s", sc->f->program, action);
	/* The address is encoded in the subject. */
	ck_assert_str_eq(subject, "soul.event.audit.~MTI3LjAuMC4x");
	ck_assert_str_eq(tk_text(j, "source"), sc->f->program);
	ck_assert_str_eq(
	    tk_text(j, "trace_id"), "0af76519-16cd-43dd-8448-eb211c80319c");
	ck_assert_str_eq(tk_text(j, "payload.action"), action);
	ck_assert_str_eq(tk_text(j, "payload.reason"), reason);
	ck_assert_str_eq(tk_text(j, "payload.route"), sc->f->route);
	ck_assert_str_eq(tk_text(j, "payload.address"), "127.0.0.1");
	ck_assert_int_eq(tk_int(j, "payload.count"), 1);
	json_decref(j);
}

static bool
is_stored(void *arg)
{
	struct scene *sc = arg;

	return tk_service_metric(&sc->s, "svc_events_stored_total") == 2;
}

static void
known(struct scene *sc)
{
	const struct tk_token list[] = { { "t-lamp", sc->f->role } };
	const char *path = tk_path("tokens.json");
	char auth[300];

	tk_tokens_write(path, list, NELEM(list));
	snprintf(auth, sizeof(auth), "AUTH_TOKENS=%s", path);
	start(sc, auth);
	request(sc, "t-forged", 401);
	want(sc, "login_refused", "bad_token");
	request(sc, "t-lamp", 403);
	want(sc, "access_denied", "role");
	ck_assert(tk_until(is_stored, sc, WAIT_MS));
	ck_assert(tk_log_has(&sc->s.proc, "ev=auth.rejected"));
	ck_assert(tk_log_has(
	    &sc->s.proc, "ev=audit action=access_denied role=terminal"));
	ck_assert(!tk_log_has(&sc->s.proc, "t-forged"));
	tk_service_end(&sc->s);
}

/* Without authentication nothing is rejected, and there are no events. */
static void
unknown(struct scene *sc)
{
	struct tk_response a = { 0 };

	start(sc, NULL);
	ck_assert_int_ne(
	    tk_http_request(sc->s.http, &a, sc->f->method, sc->f->path, "{}"),
	    0);
	ck_assert_int_ne(a.status, 401);
	ck_assert_int_ne(a.status, 403);
	tk_response_free(&a);
	tk_service_end(&sc->s);
	ck_assert(tk_log_has(&sc->s.proc, "ev=svc.stopped"));
	ck_assert(!tk_log_has(&sc->s.proc, "ev=audit"));
	ck_assert_ptr_null(tk_nats_next(sc->received, 1, NULL));
}

TEST_T(each_http_port_reports_rejections, 60)
{
	struct scene sc = { 0 };
	size_t i;

	tk_rights_nats(&sc.nats);
	tk_server_start(&sc.redis, TK_REDIS);
	sc.nc = tk_nats_connect(sc.nats.url);
	tk_nats_events(sc.nc);
	sc.received = tk_nats_listen(sc.nc, "soul.event.audit.*");
	for (i = 0; i < NELEM(faces); i++) {
		sc.f = &faces[i];
		sc.s = (struct tk_service){ 0 };
		unknown(&sc);
		known(&sc);
	}
	ck_assert_str_eq(tk_rights_denied(&sc.nats, &sc.redis), "");
	natsSubscription_Destroy(sc.received);
	natsConnection_Destroy(sc.nc);
	nats_Close();
}
