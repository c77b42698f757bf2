/*
 * http_compare: HTTP servers compared in one run, in turns, with the same
 * client threads: requests per second, latency, and the processor time of a
 * request, the client's share included, which is least disturbed by other load.
 * The first one is a bare civetweb handler.
 */
#ifndef TESTKIT_HTTP_COMPARE_H
#define TESTKIT_HTTP_COMPARE_H

#include <stddef.h>
#include <sys/types.h>

#define HTTP_COMPARE_BODY    "{\"hello\":\"world\"}"
#define HTTP_COMPARE_WORKERS 64
#define HTTP_COMPARE_ROUNDS  25
#define HTTP_COMPARE_CLIENTS 32

struct mg_context;

struct http_compare_target {
	const char *name;
	int port;
	const char *request; /* the whole request; NULL: GET path */
	/*
	 * Of eight digits in request, each time another number; NULL: always
	 * the same request.
	 */
	const char *running;
	const char *path;
	pid_t pid; /* of the server; 0: this process */
	double rps[HTTP_COMPARE_ROUNDS], p50_us[HTTP_COMPARE_ROUNDS],
	    p99_us[HTTP_COMPARE_ROUNDS];
	double
	    cpu_us[HTTP_COMPARE_ROUNDS]; /* of one request, client and server */
	double ratio;                    /* of rps, to that of the first one */
};

/*
 * http_compare_bare_start(port): Start civetweb with GET /hello, to be ended
 * with mg_stop().
 */
struct mg_context *http_compare_bare_start(int *port);

/*
 * http_compare_run(t, n, clients): Measure n servers with that many connections
 * and print the figures.
 */
void http_compare_run(struct http_compare_target *t, size_t n, size_t clients);

#endif /* !TESTKIT_HTTP_COMPARE_H */
