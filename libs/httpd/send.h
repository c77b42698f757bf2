/*
 * send: writing answers and streams to a connection.  Private.
 */
#ifndef HTTPD_SEND_H
#define HTTPD_SEND_H

#include "core/buf.h"
#include "httpd/req.h"
#include "httpd/server.h"

struct send_answer {
	int status;
	const char *type;        /* Content-Type; "" for none */
	const char *allow;       /* NULL, or the value of Allow */
	const char *methods;     /* of a preflight; NULL: it is none */
	const char *challenge;   /* httpd_challenge(), or NULL */
	int retry_after_s;       /* 0: none */
	const struct cors *cors; /* the server's */
	struct str allow_origin; /* see cors_allow() */
	struct str body;
	const struct trace *trace;
	bool close;
	bool head_only; /* the request was a HEAD */
};

/*
 * send_answer(c, a): Write an answer and, if a->close, end the connection
 * after it.  False if the client did not take it.
 */
bool send_answer(struct mg_connection *c, const struct send_answer *a);

/*
 * send_stream(h, r, c):
 * Write r's events until the stream ends, the reader goes or the server stops;
 * then leave r.
 */
void send_stream(struct httpd *h, struct httpd_req *r, struct mg_connection *c);

#endif /* !HTTPD_SEND_H */
