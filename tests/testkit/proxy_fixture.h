/*
 * proxy_fixture: the model proxy between a test and a provider whose responses
 * the test writes.  What fails here fails the test.
 */
#ifndef TESTKIT_PROXY_FIXTURE_H
#define TESTKIT_PROXY_FIXTURE_H

#include "testkit/http.h"
#include "testkit/raw_server.h"
#include "testkit/service.h"

#define PROXY_FIXTURE_KEY "sk-real-0123456789abcdef"

/* Runs of codex (OpenAI) and gemini, and of opencode, without a provider. */
#define PROXY_CODEX  "20261127T091252-codex-17e67f51"
#define PROXY_GEMINI "20261127T091252-gemini-17e67f51"
#define PROXY_OTHER  "20261127T091252-opencode-17e67f51"

struct proxy_fixture {
	struct raw_server provider;
	struct tk_service service;
	int port;
};

/*
 * proxy_fixture_start(fx, fn, more): The provider serves with fn; more are
 * variables, "K=V", or NULL.
 * proxy_fixture_spawn(fx, more): Only the proxy, after its end.
 * proxy_fixture_stop(fx): The proxy must drain and exit with 0.
 */
void proxy_fixture_start(
    struct proxy_fixture *fx, raw_server_fn fn, const char *const *more);
void proxy_fixture_spawn(struct proxy_fixture *fx, const char *const *more);
void proxy_fixture_stop(struct proxy_fixture *fx);

/*
 * proxy_fixture_path(run, epoch, budget): The path of a run's base URL; valid
 * until the next call.
 */
const char *proxy_fixture_path(const char *run, int64_t epoch, int64_t budget);

/*
 * proxy_fixture_post(fx, a, run, body): The status of a request of the run for
 * a response of its API.
 * proxy_fixture_begin(fx, c, run, body): The same, without reading the
 * response.
 */
int proxy_fixture_post(struct proxy_fixture *fx, struct tk_response *a,
    const char *run, const char *body);
void proxy_fixture_begin(struct proxy_fixture *fx, struct tk_http *c,
    const char *run, const char *body);

/*
 * proxy_fixture_request(): The last request that the provider got, with a NUL;
 * valid until the next call.
 * proxy_fixture_receive(fd): For the provider: read a request; false at the
 * end of the connection.
 */
const char *proxy_fixture_request(void);
bool proxy_fixture_receive(int fd);

#endif /* !TESTKIT_PROXY_FIXTURE_H */
