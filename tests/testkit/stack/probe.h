/*
 * probe: one HTTP request, byte for byte as the test scripts it.
 */
#ifndef TESTKIT_STACK_PROBE_H
#define TESTKIT_STACK_PROBE_H

#include <stddef.h>

#include "testkit/http.h"

/* Members may be omitted. */
struct probe {
	int port;
	unsigned char from; /* 127.0.0.<from>; 0: 127.0.0.1 */
	const char *method; /* NULL: GET, POST with a body */
	const char *path;
	const char *token; /* for Authorization: Bearer */
	const char *head;  /* further header lines, each with its CR LF */
	const char *body;  /* JSON */
};

/*
 * probe(k, a):
 * Send it.  Returns the status, 0 without a complete response within 10 s; a
 * (may be NULL) is reset first.  Fails the test if an error violates its
 * schema.
 */
int probe(const struct probe *k, struct tk_response *a);

/* probe_address(from): For tk_http_open_from(). */
uint32_t probe_address(unsigned char from);

#endif /* !TESTKIT_STACK_PROBE_H */
