/*
 * head: what a request's header fields say about its body and its connection,
 * and whether they may be believed.  Pure.
 *
 * Proxies and servers that read the same bytes differently can be made to
 * disagree about where a request ends; whatever is not plainly right is
 * refused.
 */
#ifndef HTTPD_HEAD_H
#define HTTPD_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct head_field {
	struct str name;
	struct str value;
};

struct head {
	int64_t length; /* Content-Length, 0 without one */
	bool chunked;   /* the length is not known yet */
	bool has_body;  /* chunked or length > 0 */
	bool expect;    /* the client waits for "100 Continue" */
	bool keep;      /* the client wants to keep the connection */
	bool json;      /* Content-Type is of JSON, or missing without Origin */
	const char *why; /* of RC_INVALID: the reason, for people */
};

/*
 * head_read(h, fields, n, http11):
 * RC_INVALID for: no or several Hosts in HTTP/1.1; several Content-Lengths or
 * one that is not all digits; a Transfer-Encoding other than one "chunked" in
 * HTTP/1.1; both.  RC_DENIED for an Expect other than 100-continue.
 */
enum rc head_read(struct head *h, const struct head_field *fields, size_t n,
    bool http11) RC_CHECK;

/* head_find(fields, n, name): The first value of that name, or absent. */
struct str head_find(
    const struct head_field *fields, size_t n, struct str name);

/* head_has_token(value, token): Whether a comma-separated list has token. */
bool head_has_token(struct str value, struct str token);

#endif /* !HTTPD_HEAD_H */
