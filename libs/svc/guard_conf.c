/*
 * Whether the configuration says who may ask; by default nobody whom the
 * network brings.
 */
#include <string.h>

#include "core/buf.h"
#include "core/log.h"
#include "svc/guard.h"
#include "svc/guard_own.h"

/* Addresses that only this machine reaches. */
static bool
is_loopback(const char *addr)
{
	return str_starts(str_of(addr), STR("127."));
}

static bool
is_set(const char *s)
{
	return s[0] != '\0';
}

struct auth_opts
guard_auth_opts(const struct svc_conf *conf)
{
	return (struct auth_opts){ .tokens_file = conf->auth_tokens,
		.jwks_file = conf->auth_jwks,
		.issuer = conf->auth_issuer,
		.audience = conf->auth_audience };
}

static void
complain(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	bool files = is_set(conf->auth_tokens) || is_set(conf->auth_jwks);
	bool off = strcmp(conf->auth, "off") == 0;

	if (is_set(conf->auth) && !off)
		buf_puts(errors, "AUTH: use off, or leave it empty\n");
	else if (off && files)
		buf_puts(errors,
		    "AUTH=off contradicts AUTH_TOKENS and AUTH_JWKS: unset it, "
		    "or them\n");
	else if (!off && !files && !is_loopback(conf->http_addr))
		buf_printf(errors,
		    "HTTP_ADDR=%s can be reached from other machines, and "
		    "nothing says who may ask: set AUTH_TOKENS (\"%s token "
		    "--help\" makes the file) or AUTH_JWKS, or listen on "
		    "127.0.0.1, or say AUTH=off to let anybody in\n",
		    conf->http_addr, def->name);
	if ((is_set(conf->auth_issuer) || is_set(conf->auth_audience)) &&
	    !is_set(conf->auth_jwks))
		buf_puts(errors,
		    "AUTH_ISSUER and AUTH_AUDIENCE are about JWTs: set "
		    "AUTH_JWKS, too\n");
}

void
guard_conf_check(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	struct auth_opts o;

	if (!svc_def_has_http(def))
		return;
	o = guard_auth_opts(conf);
	complain(def, conf, errors);
	/* It has told in errors. */
	(void)!auth_check_files(&o, errors);
}

void
guard_conf_warn(const struct svc_conf *conf)
{
	if (strcmp(conf->auth, "off") == 0 && !is_loopback(conf->http_addr))
		log_warn("auth.off", LOG_S("http_addr", conf->http_addr),
		    LOG_S("why", "anybody who reaches it may ask"));
	if (is_set(conf->auth_jwks) && !is_set(conf->auth_audience))
		log_warn("auth.any_audience",
		    LOG_S("why",
			"AUTH_AUDIENCE is not set: JWTs that were issued for "
			"other services are taken, too"));
}
