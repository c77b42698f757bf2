/*
 * httpc_fixture: a client on a loop, a raw server, and calls with their
 * results, for tests of libs/httpc.  Failures fail the test.
 */
#ifndef TESTKIT_HTTPC_FIXTURE_H
#define TESTKIT_HTTPC_FIXTURE_H

#include "httpc/httpc.h"
#include "testkit/loop_thread.h"
#include "testkit/raw_server.h"

/* Deadline of calls. */
#define HTTPC_FIXTURE_MS 10000

/* A call and its result. */
struct httpc_fixture_call {
	struct httpc *c;
	struct httpc_request rq;
	struct httpc_call *call;
	enum rc started, rc;
	int times; /* on_done was called */
	int status;
	struct buf body;
	char type[64];
	char why[256];
	int64_t retry_after_ms;
	struct mono start, end;
	_Atomic bool done;
};

/*
 * httpc_fixture_call_init(g, c, url): A GET with a deadline of
 * HTTPC_FIXTURE_MS, to be changed.  Its time counts from here, since a deadline
 * is set before the loop has it.
 * httpc_fixture_call_start(g): Start it; on the loop.
 * httpc_fixture_on_done(): Its on_done.
 * httpc_fixture_call_is_done(g): For tk_until().
 * httpc_fixture_call_ms(g): Its duration.
 */
void httpc_fixture_call_init(
    struct httpc_fixture_call *g, struct httpc *c, const char *url);
void httpc_fixture_call_start(void *g);
void httpc_fixture_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response);
bool httpc_fixture_call_is_done(void *g);
int64_t httpc_fixture_call_ms(const struct httpc_fixture_call *g);

struct httpc_fixture {
	struct tk_loop k;
	struct httpc *c;
	struct raw_server p;
	char url[128];
	size_t active, queued;
};

/*
 * httpc_fixture_open(s, fn, o): Start the server and the client of o.
 * httpc_fixture_free_client(s): Free the client; on the loop.
 * httpc_fixture_close(s): Stop all of it.
 */
void httpc_fixture_open(
    struct httpc_fixture *s, raw_server_fn fn, struct httpc_opts o);
void httpc_fixture_free_client(void *s);
void httpc_fixture_close(struct httpc_fixture *s);

/* httpc_fixture_run(s, g): Start g's call and wait for its only end. */
void httpc_fixture_run(struct httpc_fixture *s, struct httpc_fixture_call *g);

/* httpc_fixture_check_counts(s, active, queued): Check the client's calls. */
void httpc_fixture_check_counts(
    struct httpc_fixture *s, size_t active, size_t queued);

#endif /* !TESTKIT_HTTPC_FIXTURE_H */
