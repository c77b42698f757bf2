/*
 * fake_store: stand-ins for Mem0 and Chroma servers: HTTP on a free port, with
 * scripted faults.
 */
#ifndef TESTKIT_FAKE_STORE_H
#define TESTKIT_FAKE_STORE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "testkit/raw_server.h"

struct fake_store {
	struct raw_server peer; /* first: its threads get it */
	pthread_mutex_t lock;
	json_t *rows;        /* what is stored */
	int fail, fail_n;    /* status of the next fail_n responses */
	bool disconnect;     /* after the next request, without a response */
	size_t calls;        /* requests so far */
	const char *key;     /* required key; NULL: none */
	bool old;            /* behave as a Mem0 server of 2025 */
	char collection[40]; /* Chroma: its id; "": there is none */
	char embedding[300]; /* Chroma: the collection's metadata, JSON */
	bool lists; /* Chroma: takes lists in metadata, as from 1.5 on */
	size_t dimension;
	unsigned made;
};

struct fake_store_call {
	char method[8], path[1024], query[1024];
	const char *head; /* all of it, NUL-terminated */
	json_t *body;     /* NULL: none, or no JSON */
	int status;       /* of the response */
	json_t *reply;    /* taken; NULL: the text null */
};

typedef void (*fake_store_fn)(struct fake_store *f, struct fake_store_call *q);

/*
 * fake_store_start(f, serve): serve is fake_mem0_serve or fake_chroma_serve.
 * fake_store_stop(f): After its clients have disconnected.
 */
void fake_store_start(struct fake_store *f, raw_server_fn serve);
void fake_store_stop(struct fake_store *f);

/*
 * fake_mem0_serve: Self-hosted Mem0 2.0.1 or later, or with f->old of 2025: no
 * key, ids outside filters only, up to 100 results whatever was requested.
 * fake_chroma_serve: Chroma 1.x, HTTP v2: one tenant, database and collection,
 * cosine distances, filters by equality.
 */
void fake_mem0_serve(struct raw_server *p, int fd);
void fake_chroma_serve(struct raw_server *p, int fd);

/* fake_chroma_reset(f): Delete everything, as POST /reset does. */
void fake_chroma_reset(struct fake_store *f);

/*
 * fake_store_fail(f, status, n): Fail the next n requests.
 * fake_store_rows(f), fake_store_wait(f, n): Rows stored; wait until they are
 * n.
 */
void fake_store_fail(struct fake_store *f, int status, int n);
size_t fake_store_rows(struct fake_store *f);
void fake_store_wait(struct fake_store *f, size_t n);

/* ---- for the servers ---- */

/*
 * fake_store_serve(p, fd, fn): Serve a connection with fn.
 * fake_store_param(q, name, dst, size): A query parameter, not decoded.
 * fake_store_reject(q, status, member, why): Respond with an error.
 * fake_store_text(o, key): A member's text, "" if there is none.
 * fake_store_uuid(f, dst): A new id.
 * fake_store_similarity(a, b): The share of a's pairs of bytes that b has.
 */
void fake_store_serve(struct raw_server *p, int fd, fake_store_fn fn);
bool fake_store_param(
    const struct fake_store_call *q, const char *name, char *dst, size_t size);
void fake_store_reject(
    struct fake_store_call *q, int status, const char *member, const char *why);
const char *fake_store_text(const json_t *o, const char *key);
void fake_store_uuid(struct fake_store *f, char dst[40]);
double fake_store_similarity(const char *a, const char *b);

#endif /* !TESTKIT_FAKE_STORE_H */
