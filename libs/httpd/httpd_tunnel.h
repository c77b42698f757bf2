/*
 * httpd_tunnel: a WebSocket at a path of the server, whose bytes are those of a
 * TCP connection to another one.
 */
#ifndef HTTPD_HTTPD_TUNNEL_H
#define HTTPD_HTTPD_TUNNEL_H

#include <stdbool.h>
#include <stddef.h>

struct httpd_req;

/*
 * A client may send anything to that server, which authenticates it:
 * there is no authentication here.  Pages of other origins are rejected (403).
 * Each open one holds a worker, and ends when one of both sides does, with
 * httpd_stop(), and after 90 s in which the client sends nothing or takes
 * nothing that is to be sent.  Only binary messages of at most 16 KiB are read.
 *
 * All of it is borrowed, and constant while the server runs.
 */
struct httpd_tunnel {
	const char *path;     /* "/mqtt"; no route and no file has it */
	const char *to;       /* "host:port"; NULL or "": there is none */
	const char *protocol; /* the subprotocol that clients must offer */
	size_t max;           /* open ones at a time; more get 503 */
	/* Whether r may open one; on a worker.  NULL: all may. */
	bool (*allows)(void *arg, const struct httpd_req *r);
	void *arg;
};

/* httpd_tunnel_error(to): What is wrong with "host:port"; NULL: nothing. */
const char *httpd_tunnel_error(const char *to);

#endif /* !HTTPD_HTTPD_TUNNEL_H */
