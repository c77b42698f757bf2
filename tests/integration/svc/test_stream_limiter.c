/*
 * Each stream occupies a connection: how many there may be of all, of one token
 * and of one address, and for how long each counts.
 */
#include <sys/socket.h>

#include "auth/auth.h"
#include "core/buf.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/svc_fixture.h"
#include "testkit/tokens.h"
#include "wire/msgs.h"

/* Over the 4 MiB that a sender's socket may hold and a reader's ROOM. */
#define FLOOD      ((size_t)15 * 1024 * 1024)
#define ROOM       (64 * 1024)
#define PATH       "/v1/souls"
#define SILENT     "&how=silent"
#define DEAF       "&how=deaf"
#define STREAMS    3 /* of 20 workers, of which 16 are spare */
#define REQUEST_MS 5000

/* ---- the toy ---- */

static int64_t ended; /* floods */

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static void
on_abort(void *arg)
{
	svc_stream_end(arg, RC_OK);
}

/*
 * One event, which no buffer between it and a reader that takes nothing holds
 * as a whole: its worker is occupied when the handler ends.  Several smaller
 * ones would be too many for the stream before they are too many for the
 * socket, if the worker is slow to take them: then it closes the connection.
 */
static void
flood(struct svc_call *c)
{
	static char text[FLOOD];

	memset(text, 'x', sizeof(text));
	svc_stream_end(
	    c, svc_sse_send(c, NULL, NULL, (struct str){ text, sizeof(text) }));
	ended++;
}

static void
on_stream(void *app, struct svc_call *c)
{
	struct str how = svc_call_query(c, "how");

	(void)app;
	if (!svc_stream_admit(c))
		return;
	if (svc_sse_start(c) != RC_OK) {
		svc_stream_end(c, RC_DOWN);
	} else if (str_eq(how, STR("deaf"))) {
		flood(c);
	} else if (svc_call_on_abort(c, on_abort, c) != RC_OK) {
		svc_stream_end(c, RC_DOWN);
	}
}

static void
on_plain(void *app, struct svc_call *c)
{
	const struct wire_error rep = { .error = arena_printf(svc_call_arena(c),
					    "%lld ended", (long long)ended) };

	(void)app;
	svc_reply(c, &rep);
}

static const struct svc_route routes[] = {
	{ .name = "stream",
	    .method = "GET",
	    .path = PATH,
	    .fn = on_stream,
	    .deadline_ms = REQUEST_MS },
	{ .name = "plain",
	    .method = "GET",
	    .path = "/v1/terminals",
	    .reply = &wire_error_desc,
	    .fn = on_plain,
	    .deadline_ms = REQUEST_MS },
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "answers for long",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};

/* ---- its readers ---- */

struct reader {
	const struct svc_fixture *r;
	const char *token; /* NULL: none */
	const char *how;
	struct tk_http c;
};

/* The status of the response; the connection stays open. */
static int
reader_open(struct reader *x)
{
	struct buf b = BUF_INIT(1024);
	const int room = ROOM;
	int status = 0;

	buf_printf(
	    &b, "GET " PATH "?x=1%s HTTP/1.1\r\nHost: localhost\r\n", x->how);
	if (x->token != NULL)
		buf_printf(&b, "Authorization: Bearer %s\r\n", x->token);
	buf_puts(&b, "\r\n");
	tk_http_open(&x->c, x->r->toy.http);
	/* Else the kernel may extend it to tens of MiB. */
	ck_assert_int_eq(
	    setsockopt(x->c.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	(void)tk_http_send(&x->c, b.p, b.n);
	buf_free(&b);
	if (tk_http_has(&x->c, "\r\n\r\n", REQUEST_MS))
		(void)sscanf(x->c.in.p, "HTTP/1.1 %d", &status);
	return status;
}

static void
reader_close(struct reader *x)
{
	tk_http_close(&x->c);
}

static bool
opens(void *arg)
{
	struct reader *x = arg;
	int status = reader_open(x);

	reader_close(x);
	return status == 200;
}

/* Other requests are served throughout. */
static bool
have_ended(void *arg)
{
	const struct svc_fixture *r = arg;
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    tk_http_request(r->toy.http, &a, "GET", "/v1/terminals", NULL),
	    200);
	bool is = tk_response_has(&a, "3 ended");
	tk_response_free(&a);
	return is;
}

TEST(a_stream_counts_until_its_connection_is_free)
{
	struct reader deaf[STREAMS], late;
	struct svc_fixture r;
	size_t i;

	svc_fixture_begin(&r, &def, TK_ENV("HTTP_WORKERS=20"));
	tk_service_wait(&r.toy);
	for (i = 0; i < STREAMS; i++) {
		deaf[i] = (struct reader){ .r = &r, .how = DEAF };
		ck_assert_int_eq(reader_open(&deaf[i]), 200);
	}
	/* Their handlers end, but their clients read nothing. */
	ck_assert(tk_until(have_ended, &r, SVC_FIXTURE_MS));
	late = (struct reader){ .r = &r, .how = SILENT };
	ck_assert_int_eq(reader_open(&late), 503);
	reader_close(&late);
	for (i = 0; i < STREAMS; i++)
		reader_close(&deaf[i]);
	ck_assert(tk_until(opens, &late, SVC_FIXTURE_MS));
	tk_service_end(&r.toy);
}

static int
try_open(const struct svc_fixture *r, const char *token, const char *text)
{
	struct reader x = { .r = r, .token = token, .how = SILENT };
	int status = reader_open(&x);

	reader_close(&x);
	if (status == 429) {
		struct svc_fixture_request q = { .token = token,
			.method = "GET",
			.path = PATH,
			.status = 429,
			.text = text };
		svc_fixture_request(r, &q);
	}
	return status;
}

TEST(the_streams_of_a_token_and_an_address_are_limited)
{
	static const struct tk_token tokens[] = {
		{ "ada-ada-ada-ada-ada",
		    "\"role\":\"owner\",\"user\":\"ada\"" },
		{ "bob-bob-bob-bob-bob",
		    "\"role\":\"owner\",\"user\":\"bob\"" },
	};
	const char *path = tk_path("tokens.json");
	struct reader x[3];
	struct svc_fixture r;
	char auth[256];
	size_t i;

	tk_tokens_write(path, tokens, NELEM(tokens));
	snprintf(auth, sizeof(auth), "AUTH_TOKENS=%s", path);
	svc_fixture_begin(&r, &def,
	    TK_ENV(auth, "STREAMS_PER_TOKEN=2", "STREAMS_PER_ADDRESS=3",
		"HTTP_WORKERS=40"));
	tk_service_wait(&r.toy);
	for (i = 0; i < NELEM(x); i++) {
		x[i] = (struct reader){
			.r = &r, .token = tokens[i / 2].token, .how = SILENT
		};
		if (i == 2)
			ck_assert_int_eq(
			    try_open(&r, tokens[0].token, "with this token"),
			    429);
		ck_assert_int_eq(reader_open(&x[i]), 200);
	}
	ck_assert_int_eq(try_open(&r, tokens[1].token, "of this address"), 429);
	reader_close(&x[0]);
	struct reader retried = {
		.r = &r, .token = tokens[1].token, .how = SILENT
	};
	ck_assert(tk_until(opens, &retried, SVC_FIXTURE_MS));
	for (i = 1; i < NELEM(x); i++)
		reader_close(&x[i]);
	tk_service_end(&r.toy);
}
