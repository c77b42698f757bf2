/*
 * edge: what the HTTP port knows of the network: limits of addresses, proxies
 * it believes, web pages of other origins.  Private to svc.
 */
#ifndef SVC_EDGE_H
#define SVC_EDGE_H

#include <stdbool.h>

struct httpd_opts;
struct svc;
struct svc_conf;
struct svc_def;

/*
 * edge_conf_ok(def, conf):
 * Whether the service may start with it; if not, stderr is told what to set.
 */
bool edge_conf_ok(const struct svc_def *def, const struct svc_conf *conf);

/*
 * edge_opts(s, o):
 * Put it into o.  Addresses have limits where callers must say who they are;
 * elsewhere only this machine asks.
 */
void edge_opts(const struct svc *s, struct httpd_opts *o);

#endif /* !SVC_EDGE_H */
