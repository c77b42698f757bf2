/*
 * take: copying what civetweb has read into a request of ours.  Private.
 */
#ifndef HTTPD_TAKE_H
#define HTTPD_TAKE_H

#include "httpd/req.h"
#include "httpd/server.h"

/* take_peer(r, c): Copy who is connected, before others may see r. */
void take_peer(struct httpd_req *r, struct mg_connection *c);

/*
 * take_head(r, c, why):
 * Copy method, path, query, header fields; start r's trace.
 * RC_INVALID with *why if the head may be read in two ways or breaks a rule,
 * RC_DENIED for an unknown Expect, RC_TOOBIG for too many fields or bytes.
 */
enum rc take_head(
    struct httpd_req *r, struct mg_connection *c, const char **why) RC_CHECK;

/*
 * take_body(h, r, c):
 * Read the body.  RC_TOOBIG over HTTPD_BODY_MAX, RC_TIMEOUT if it is not there
 * in time, RC_INVALID if it ends early or its chunks are broken.
 */
enum rc take_body(
    struct httpd *h, struct httpd_req *r, struct mg_connection *c) RC_CHECK;

/*
 * take_rest(h, r, c):
 * After the answer: read what the client still sends of a body nobody wants and
 * drop it, for SERVER_REST_MS.  Closing while it sends would reset the
 * connection, and the reset can overtake the answer.
 */
void take_rest(struct httpd *h, struct httpd_req *r, struct mg_connection *c);

#endif /* !HTTPD_TAKE_H */
