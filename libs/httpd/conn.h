/*
 * conn: one request on civetweb's thread, from its head to the last byte of the
 * answer.  Private.
 */
#ifndef HTTPD_CONN_H
#define HTTPD_CONN_H

#include "httpd/server.h"

/* conn_serve(h, c): Serve the request c has read; the answer's status. */
int conn_serve(struct httpd *h, struct mg_connection *c);

/*
 * conn_fail(h, c, status, text):
 * Answer a request that civetweb could not read, and close.
 */
void conn_fail(
    struct httpd *h, struct mg_connection *c, int status, const char *text);

#endif /* !HTTPD_CONN_H */
