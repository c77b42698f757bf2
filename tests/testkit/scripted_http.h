/*
 * scripted_http: an HTTP server that responds by rules, in its own threads, and
 * records what it was sent.  One at a time.
 */
#ifndef TESTKIT_SCRIPTED_HTTP_H
#define TESTKIT_SCRIPTED_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/* Rules; the first whose text a request contains is used. */
struct scripted_http_rule {
	const char *match;
	/* All of the response; NULL: the connection is closed. */
	const char *response;
	bool hold; /* hold the connection then, instead of the next request */
};

/* A response with a JSON body, with a stream of events, without a body. */
#define SCRIPTED_JSON(length, body)                             \
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
	"Content-Length: " #length "\r\nMcp-Session-Id: s-1\r\n\r\n" body
#define SCRIPTED_EVENTS(events)                                  \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
	"Connection: close\r\n\r\n" events
#define SCRIPTED_STATUS(status) \
	"HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"

/* scripted_http_open(rules, n): Start it; its port. */
int scripted_http_open(const struct scripted_http_rule *rules, size_t n);
void scripted_http_close(void);

/* scripted_http_switch(rules, n): Respond to what comes from now on by these.
 */
void scripted_http_switch(const struct scripted_http_rule *rules, size_t n);

/*
 * scripted_http_request(text, i):
 * The i-th request with that text, until it is closed; NULL: there is none.
 */
const char *scripted_http_request(const char *text, size_t i);

/*
 * scripted_http_count(text): Requests with that text until now.
 * scripted_http_count_is(want): For tk_until(): those of a struct
 * scripted_http_want are at least so many.
 */
size_t scripted_http_count(const char *text);
struct scripted_http_want {
	const char *text;
	size_t n;
};
bool scripted_http_count_is(void *want);

/* scripted_http_connections(): That were accepted until now. */
size_t scripted_http_connections(void);

#endif /* !TESTKIT_SCRIPTED_HTTP_H */
