/*
 * names: what may stand in the lines of the NATS protocol.
 *
 * Subjects, queue groups and header values go out as they are, so each is
 * checked before it reaches the wire: a blank or line end in one would become
 * protocol.
 */
#ifndef BUS_NAMES_H
#define BUS_NAMES_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

/* Longest subject, in bytes; the server's own limit is 4 KiB a line. */
#define NAMES_SUBJECT_MAX 1000
/* Longest header value, e.g. a message id. */
#define NAMES_HEADER_MAX 256
/* Servers in one URL list. */
#define NAMES_SERVERS_MAX 16

/*
 * names_subject_ok(s, wild):
 * Whether s may be published to or, with wild, subscribed to: non-empty tokens
 * of printable ASCII without blanks; '*' and '>' only with wild, only as whole
 * tokens, and '>' only as the last one.  s may be NULL: false.
 */
bool names_subject_ok(const char *s, bool wild);

/* names_queue_ok(s): Whether s may name a queue group.  NULL: false. */
bool names_queue_ok(const char *s);

/* names_token_ok(s): Whether s is [A-Za-z0-9_-]{1,64}: streams, services. */
bool names_token_ok(const char *s);

/* names_header_ok(s): Whether s may be a header's value.  NULL: false. */
bool names_header_ok(const char *s);

/*
 * names_servers(urls, out, n):
 * The addresses in "nats://[user[:password]@]host[:port],…" as heap copies,
 * *n of them, freed with names_servers_free().  All are nats:// or all are
 * tls://.  RC_INVALID if one is neither, RC_TOOBIG over NAMES_SERVERS_MAX.
 */
enum rc names_servers(
    const char *urls, char *out[NAMES_SERVERS_MAX], int *n) RC_CHECK;

/* names_tls(url): Whether an address is to be spoken to by TLS. */
bool names_tls(const char *url);

/* names_servers_free(v, n): Free what names_servers() gave. */
void names_servers_free(char *v[], int n);

#endif /* !BUS_NAMES_H */
