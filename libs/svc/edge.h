/*
 * edge: what the HTTP port knows of the network: limits of addresses, proxies
 * it believes, web pages of other origins.  Private to svc.
 */
#ifndef SVC_EDGE_H
#define SVC_EDGE_H

struct buf;
struct httpd_opts;
struct svc;
struct svc_conf;
struct svc_def;

/*
 * edge_conf_check(def, conf, errors):
 * What does not let the service start with it: a line each.
 */
void edge_conf_check(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors);

/*
 * edge_opts(s, o):
 * Put it into o.  Addresses have limits where callers must say who they are;
 * elsewhere only this machine asks.
 */
void edge_opts(const struct svc *s, struct httpd_opts *o);

#endif /* !SVC_EDGE_H */
