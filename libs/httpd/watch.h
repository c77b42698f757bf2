/*
 * watch: an end for reads that would go on: bodies that drip, and idle
 * connections when the server stops; and whether a client is still there.
 * Private.
 *
 * civetweb's timeout is for each read, so a client that sends a byte now and
 * then would hold its worker for ever.  Twice a second the loop looks for
 * bodies that are late and ends their connection's reading side.
 */
#ifndef HTTPD_WATCH_H
#define HTTPD_WATCH_H

#include "httpd/server.h"

/* watch_start(h), watch_stop(h): Loop thread. */
void watch_start(struct httpd *h);
void watch_stop(struct httpd *h);

/*
 * watch_cut_all(h):
 * End the reading side of all connections, so that idle ones let their workers
 * go at once.
 */
void watch_cut_all(struct httpd *h);

/*
 * watch_body(h, r, ms), watch_body_done(h, r):
 * Worker: r's body is being read, for ms at most; it no longer is.
 */
void watch_body(struct httpd *h, struct httpd_req *r, int64_t ms);
void watch_body_done(struct httpd *h, struct httpd_req *r);

/*
 * watch_gone(h, r, fd):
 * Worker: whether r's client has hung up.  *fd is -1 before the first look, and
 * the caller's to close after the last.
 */
bool watch_gone(const struct httpd *h, const struct httpd_req *r, int *fd);

#endif /* !HTTPD_WATCH_H */
