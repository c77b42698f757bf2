#include "svc/edge.h"

#include <string.h>

#include "core/buf.h"
#include "svc/internal.h"

static bool
is_guarded(const struct svc_conf *conf)
{
	return conf->auth_tokens[0] != '\0' || conf->auth_jwks[0] != '\0';
}

void
edge_conf_check(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	const char *why = httpd_addr_error(conf->admin_addr);

	if (why != NULL)
		buf_printf(errors, "ADMIN_ADDR: %s\n", why);
	if (!svc_def_has_http(def))
		return;
	why = httpd_addr_error(conf->http_addr);
	if (why != NULL)
		buf_printf(errors, "HTTP_ADDR: %s\n", why);
	why = httpd_opts_error(
	    &(struct httpd_opts){ .trusted_proxies = conf->trusted_proxies,
		.cors_origins = conf->cors_origins });
	if (why == NULL && !is_guarded(conf) &&
	    strcmp(conf->cors_origins, "*") == 0)
		why = "CORS_ORIGINS=* lets any web page that is looked at on "
		      "this machine give orders: name the pages, or set "
		      "AUTH_TOKENS or AUTH_JWKS";
	if (why != NULL)
		buf_printf(errors, "%s\n", why);
}

void
edge_opts(const struct svc *s, struct httpd_opts *o)
{
	const struct svc_conf *conf = &s->conf;

	o->trusted_proxies = conf->trusted_proxies;
	o->cors_origins = conf->cors_origins;
	if (s->guard == NULL)
		return;
	o->rate_per_s = conf->rate_address_per_s;
	o->rate_burst = conf->rate_address_burst;
	o->per_address = (size_t)conf->http_per_address;
	if (o->per_address == 0)
		o->per_address = o->workers / 2;
}
