/*
 * config: the options every service has, the command line, and what is wrong
 * with a configuration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "svc/svc_internal.h"
#include "version.h"

#define OUT_MAX (256 * 1024)
/* The options of NATS come first, those of access control last. */
#define NATS_OPTS_N 7
#define AUTH_OPTS_N 16

/* Streams, each of which holds a connection. */
#define STREAMS_OPTS                                                           \
	{ "STREAMS_PER_TOKEN", CONF_INT, CONF_AT(svc_conf, streams_per_token), \
		"32", 0, 4096,                                                 \
		"concurrent streams per access token; 0: unlimited" },         \
	{                                                                      \
		"STREAMS_PER_ADDRESS", CONF_INT,                               \
		    CONF_AT(svc_conf, streams_per_address), "0", 0, 4096,      \
		    "concurrent streams per address; 0: a quarter of "         \
		    "the connections"                                          \
	}

#define NATS_REPLICAS_OPT                                                    \
	{                                                                    \
		"NATS_REPLICAS", CONF_INT, CONF_AT(svc_conf, nats_replicas), \
		    "1", 1, 5,                                               \
		    "replicas of each JetStream stream: 1, 3 or 5; "         \
		    "never reduced for existing streams"                     \
	}

/* What makes a request count as more than one. */
#define RATE_COST_OPTS                                                      \
	{ "RATE_COST_BYTES", CONF_INT, CONF_AT(svc_conf, rate_cost_bytes),  \
		"16384", 1024, 1048576,                                     \
		"bytes of a request body that count as one more request" }, \
	{                                                                   \
		"RATE_COST_US", CONF_INT, CONF_AT(svc_conf, rate_cost_us),  \
		    "5000", 100, 1000000,                                   \
		    "processor time that counts as one more request, us"    \
	}

/* An idle thread takes about 20 KiB of resident memory. */
static const char *
config_http_workers(const struct svc_def *def)
{
	if (def->http_workers != NULL)
		return def->http_workers;
	return svc_def_has_http(def) && def->ws == NULL ? "128" : "32";
}

/* What WebSocket connections have not. */
static bool
config_is_of_requests(const char *name)
{
	return str_starts(str_of(name), STR("RATE_COST_")) ||
	    str_starts(str_of(name), STR("STREAMS_PER_"));
}

static size_t
config_select(const struct svc_def *def, const struct conf_opt *opts, size_t n,
    struct conf_opt *dst)
{
	size_t i, selected = 0;

	for (i = 0; i < n; i++)
		if (def->ws == NULL || !config_is_of_requests(opts[i].env))
			dst[selected++] = opts[i];
	return selected;
}

size_t
svc_conf_opts(const struct svc_def *def, struct conf_opt dst[SVC_OPTS_N])
{
	const struct conf_opt opts[SVC_OPTS_N] = {
		{ "NATS_URL", CONF_URL, CONF_AT(svc_conf, nats_url),
		    "nats://127.0.0.1:4222", 0, 0,
		    "NATS servers, separated by commas; tls:// for TLS" },
		{ "NATS_USER", CONF_STR, CONF_AT(svc_conf, nats_user), "", 0, 0,
		    "NATS user; empty for none" },
		{ "NATS_PASSWORD", CONF_SECRET,
		    CONF_AT(svc_conf, nats_password), "", 0, 0,
		    "NATS password" },
		{ "NATS_CA_FILE", CONF_STR, CONF_AT(svc_conf, nats_ca_file), "",
		    0, 0,
		    "CA of the servers' certificates (PEM); empty: the "
		    "system's CAs" },
		{ "NATS_CERT_FILE", CONF_STR, CONF_AT(svc_conf, nats_cert_file),
		    "", 0, 0, "client certificate (PEM); empty for none" },
		{ "NATS_KEY_FILE", CONF_STR, CONF_AT(svc_conf, nats_key_file),
		    "", 0, 0, "private key of the client certificate (PEM)" },
		NATS_REPLICAS_OPT,
		{ "HTTP_ADDR", CONF_STR, CONF_AT(svc_conf, http_addr),
		    def->http_addr, 0, 0,
		    "address and port of the service's HTTP endpoints" },
		{ "ADMIN_ADDR", CONF_STR, CONF_AT(svc_conf, admin_addr),
		    def->admin_addr, 0, 0,
		    "address and port of /livez, /readyz and /metrics" },
		{ "HTTP_WORKERS", CONF_INT, CONF_AT(svc_conf, http_workers),
		    config_http_workers(def), 17, 4096,
		    "concurrent HTTP connections" },
		{ "INBOX_MAX", CONF_INT, CONF_AT(svc_conf, inbox_max), "4096",
		    64, 1048576, "requests queued for the loop; 503 beyond" },
		{ "DRAIN_TIMEOUT_MS", CONF_INT,
		    CONF_AT(svc_conf, drain_timeout_ms),
		    def->drain_ms != NULL ? def->drain_ms : "10000", 0, 600000,
		    "time to finish open requests after SIGTERM, ms" },
		{ "LOG_LEVEL", CONF_STR, CONF_AT(svc_conf, log_level), "info",
		    0, 0, "debug, info, warn or error" },
		{ "AUTH", CONF_STR, CONF_AT(svc_conf, auth), "", 0, 0,
		    "off: no authentication, regardless of HTTP_ADDR" },
		{ "AUTH_TOKENS", CONF_STR, CONF_AT(svc_conf, auth_tokens), "",
		    0, 0,
		    "access token file; every request then needs a token" },
		{ "AUTH_JWKS", CONF_STR, CONF_AT(svc_conf, auth_jwks), "", 0, 0,
		    "JWKS file; JWTs signed by its keys are then accepted" },
		{ "AUTH_ISSUER", CONF_STR, CONF_AT(svc_conf, auth_issuer), "",
		    0, 0, "required issuer (iss) of JWTs; empty: any" },
		{ "AUTH_AUDIENCE", CONF_STR, CONF_AT(svc_conf, auth_audience),
		    "", 0, 0, "required audience (aud) of JWTs; empty: any" },
		{ "RATE_TOKEN_PER_S", CONF_INT,
		    CONF_AT(svc_conf, rate_token_per_s), "50", 1, RATE_MAX,
		    "requests per second per access token" },
		{ "RATE_TOKEN_BURST", CONF_INT,
		    CONF_AT(svc_conf, rate_token_burst), "100", 1, RATE_MAX,
		    "burst of requests per access token" },
		RATE_COST_OPTS,
		{ "RATE_ADDRESS_PER_S", CONF_INT,
		    CONF_AT(svc_conf, rate_address_per_s), "200", 0, RATE_MAX,
		    "requests per second per address; 0: unlimited" },
		{ "RATE_ADDRESS_BURST", CONF_INT,
		    CONF_AT(svc_conf, rate_address_burst), "400", 1, RATE_MAX,
		    "burst of requests per address" },
		{ "HTTP_PER_ADDRESS", CONF_INT,
		    CONF_AT(svc_conf, http_per_address), "0", 0, 4096,
		    "concurrent connections per address; 0: half of all" },
		STREAMS_OPTS,
		{ "TRUSTED_PROXIES", CONF_STR,
		    CONF_AT(svc_conf, trusted_proxies), "", 0, 0,
		    "trusted proxy addresses, as 10.0.0.0/8,192.0.2.1" },
		{ "CORS_ORIGINS", CONF_STR, CONF_AT(svc_conf, cors_origins), "",
		    0, 0,
		    "allowed CORS origins: https://a.example,…; or *, only "
		    "with access tokens" },
	};
	size_t skip = def->no_bus ? NATS_OPTS_N : 0;
	size_t n =
	    svc_def_has_http(def) ? SVC_OPTS_N : SVC_OPTS_N - AUTH_OPTS_N;

	return config_select(def, opts + skip, n - skip, dst);
}

bool
svc_def_has_http(const struct svc_def *def)
{
	size_t i;

	if (def->ws != NULL)
		return true;

	for (i = 0; i < def->nroutes; i++) {
		if (def->routes[i].path != NULL)
			return true;
	}
	return false;
}

const char *
svc_version(void)
{
	return SOUL_VERSION;
}

static void
config_help(const struct svc_def *def, const struct conf_opt *common, size_t n,
    struct buf *out)
{
	buf_printf(out, "%s - %s\n\nusage: %s [option]\n", def->name,
	    def->summary, def->name);
	svc_commands_help(def, out);
	buf_puts(out,
	    "\n"
	    "  --help          this text; after a command, more about it\n"
	    "  --help-md       the configuration as a Markdown table\n"
	    "  --version       version of the suite\n"
	    "  --routes        NATS subjects and HTTP paths it serves\n"
	    "  --check-config  check the configuration and exit\n"
	    "  --print-config  print the configuration in force and exit\n"
	    "\n"
	    "Configuration comes from the environment; VARIABLE_FILE names a "
	    "file that\nholds the value.  Exit codes: 0, 64 arguments, 69 "
	    "address taken, 70 failure,\n78 configuration; a command that "
	    "fails: 1.\n\n");
	conf_help(common, n, out);
	conf_help(def->opts, def->nopts, out);
}

static void
config_routes(const struct svc_def *def, struct buf *out)
{
	size_t i;

	for (i = 0; i < def->nroutes; i++) {
		const struct svc_route *r = &def->routes[i];

		if (r->subject != NULL)
			buf_printf(out, "nats  %s\n", r->subject);
		if (r->path != NULL)
			buf_printf(out, "http  %s %s\n", r->method, r->path);
	}
}

static enum rc
config_check_nats(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	const struct bus_opts o = svc_bus_opts(def, conf);
	const char *why = bus_opts_error(&o);

	if (why != NULL)
		buf_printf(errors,
		    "NATS_URL, NATS_CA_FILE, NATS_CERT_FILE, NATS_KEY_FILE: "
		    "%s\n",
		    why);
	/* An even number tolerates no more failures than the odd one below. */
	if (conf->nats_replicas % 2 == 0) {
		buf_puts(errors, "NATS_REPLICAS: use 1, 3 or 5\n");
		return RC_INVALID;
	}
	return why == NULL ? RC_OK : RC_INVALID;
}

int
svc_conf_load(const struct svc_def *def, struct svc_conf *conf, void *app_conf)
{
	struct conf_opt common[SVC_OPTS_N];
	struct buf errors = BUF_INIT(OUT_MAX);
	size_t n = svc_conf_opts(def, common);
	enum rc rc = conf_load(common, n, conf, &errors);
	enum rc app_rc = conf_load(def->opts, def->nopts, app_conf, &errors);
	enum log_level level;

	if (rc == RC_OK &&
	    log_level_parse(str_of(conf->log_level), &level) != RC_OK) {
		buf_puts(
		    &errors, "LOG_LEVEL: use debug, info, warn or error\n");
		rc = RC_INVALID;
	}
	if (rc == RC_OK && !def->no_bus)
		rc = config_check_nats(def, conf, &errors);
	if (rc == RC_OK)
		rc = app_rc;
	if (rc != RC_OK)
		fprintf(stderr, "%.*s", STR_ARG(buf_str(&errors)));
	buf_free(&errors);
	return rc == RC_OK ? -1 : SVC_EXIT_CONFIG;
}

/* A variable whose name resembles an option's is probably misspelt. */
static void
config_warn_unknown(const struct svc_def *def, struct str more, struct buf *out)
{
	struct conf_opt common[SVC_OPTS_N];
	size_t n = svc_conf_opts(def, common);
	struct conf_opt *all = mem_calloc(n + def->nopts, sizeof(*all));

	memcpy(all, common, n * sizeof(*all));
	for (size_t i = 0; i < def->nopts; i++)
		all[n + i] = def->opts[i];
	conf_unknown(all, n + def->nopts, more, out);
	free(all);
}

/* ---- access control and network ---- */

static bool
conf_is_authenticated(const struct svc_conf *conf)
{
	return conf->auth_tokens[0] != '\0' || conf->auth_jwks[0] != '\0';
}

static void
config_check_network(
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
	if (why == NULL && !conf_is_authenticated(conf) &&
	    strcmp(conf->cors_origins, "*") == 0)
		why = "CORS_ORIGINS=* lets any web page that is opened on "
		      "this machine call the service: name the origins, or "
		      "set AUTH_TOKENS or AUTH_JWKS";
	if (why != NULL)
		buf_printf(errors, "%s\n", why);
}

void
svc_http_opts(const struct svc *s, struct httpd_opts *o)
{
	const struct svc_conf *conf = &s->conf;

	o->trusted_proxies = conf->trusted_proxies;
	o->cors_origins = conf->cors_origins;
	if (s->access == NULL)
		return;
	o->rate_per_s = conf->rate_address_per_s;
	o->rate_burst = conf->rate_address_burst;
	o->per_address = (size_t)conf->http_per_address;
	if (o->per_address == 0)
		o->per_address = o->workers / 2;
}

/* Addresses that only this machine reaches. */
static bool
addr_is_loopback(const char *addr)
{
	return str_starts(str_of(addr), STR("127."));
}

static bool
conf_is_set(const char *s)
{
	return s[0] != '\0';
}

struct auth_opts
svc_access_auth_opts(const struct svc_conf *conf)
{
	return (struct auth_opts){ .tokens_file = conf->auth_tokens,
		.jwks_file = conf->auth_jwks,
		.issuer = conf->auth_issuer,
		.audience = conf->auth_audience };
}

static void
config_access_errors(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	bool files =
	    conf_is_set(conf->auth_tokens) || conf_is_set(conf->auth_jwks);
	bool off = strcmp(conf->auth, "off") == 0;

	if (conf_is_set(conf->auth) && !off)
		buf_puts(errors, "AUTH: use off, or leave it empty\n");
	else if (off && files)
		buf_puts(errors,
		    "AUTH=off contradicts AUTH_TOKENS and AUTH_JWKS: unset it, "
		    "or them\n");
	else if (!off && !files && !addr_is_loopback(conf->http_addr))
		buf_printf(errors,
		    "HTTP_ADDR=%s can be reached from other machines "
		    "without authentication: set AUTH_TOKENS (\"%s token "
		    "--help\" says how to make the file) or AUTH_JWKS, or "
		    "listen on 127.0.0.1, or set AUTH=off to allow that\n",
		    conf->http_addr, def->name);
	if ((conf_is_set(conf->auth_issuer) ||
		conf_is_set(conf->auth_audience)) &&
	    !conf_is_set(conf->auth_jwks))
		buf_puts(errors,
		    "AUTH_ISSUER and AUTH_AUDIENCE are about JWTs: set "
		    "AUTH_JWKS, too\n");
}

static void
config_check_access(
    const struct svc_def *def, const struct svc_conf *conf, struct buf *errors)
{
	struct auth_opts o;

	if (!svc_def_has_http(def))
		return;
	o = svc_access_auth_opts(conf);
	config_access_errors(def, conf, errors);
	/* What is wrong is in errors. */
	(void)!auth_check_files(&o, errors);
}

void
svc_access_conf_warn(const struct svc_conf *conf)
{
	if (strcmp(conf->auth, "off") == 0 &&
	    !addr_is_loopback(conf->http_addr))
		log_warn("auth.off", LOG_S("http_addr", conf->http_addr),
		    LOG_S("why", "no authentication on a reachable address"));
	if (conf_is_set(conf->auth_jwks) && !conf_is_set(conf->auth_audience))
		log_warn("auth.any_audience",
		    LOG_S("why",
			"AUTH_AUDIENCE is not set: JWTs that were issued for "
			"other services are accepted, too"));
}

/* ---- the command line ---- */

/*
 * Check a configuration, at start as with --check-config: -1, or the exit code
 * after printing to stderr what is wrong.
 */
static int
config_check(const struct svc_def *def, struct svc_conf *conf, void *app_conf)
{
	struct buf errors = BUF_INIT(OUT_MAX), warnings = BUF_INIT(OUT_MAX);
	struct buf known = BUF_INIT(OUT_MAX);
	int code = svc_conf_load(def, conf, app_conf);

	if (code == -1) {
		config_check_access(def, conf, &errors);
		config_check_network(def, conf, &errors);
		if (def->check != NULL)
			def->check(app_conf, &errors, &known);
	}
	config_warn_unknown(def, buf_str(&known), &warnings);
	fprintf(stderr, "%.*s%.*s", STR_ARG(buf_str(&errors)),
	    STR_ARG(buf_str(&warnings)));
	if (errors.n > 0)
		code = SVC_EXIT_CONFIG;
	buf_free(&errors);
	buf_free(&warnings);
	buf_free(&known);
	return code;
}

/* The output of an option that needs no configuration; false: it is none. */
static bool
config_info(const struct svc_def *def, const char *arg, struct buf *out)
{
	struct conf_opt common[SVC_OPTS_N];
	size_t n = svc_conf_opts(def, common);

	if (strcmp(arg, "--help") == 0) {
		config_help(def, common, n, out);
	} else if (strcmp(arg, "--help-md") == 0) {
		conf_markdown(common, n, out);
		conf_markdown(def->opts, def->nopts, out);
	} else if (strcmp(arg, "--version") == 0) {
		buf_printf(out, "%s %s\n", def->name, svc_version());
	} else if (strcmp(arg, "--routes") == 0) {
		config_routes(def, out);
	} else {
		return false;
	}
	return true;
}

int
svc_args(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf)
{
	struct conf_opt common[SVC_OPTS_N];
	struct buf out = BUF_INIT(OUT_MAX);
	const char *arg = argc > 1 ? argv[1] : "";
	bool check = strcmp(arg, "--check-config") == 0;
	bool print = strcmp(arg, "--print-config") == 0;
	int code = 0;

	if (arg[0] != '\0' && arg[0] != '-')
		return svc_command(def, argc - 1, argv + 1, conf, app_conf);
	if (argc > 2 ||
	    (arg[0] != '\0' && !check && !print &&
		!config_info(def, arg, &out))) {
		fprintf(stderr, "%s: unknown argument %s; see %s --help\n",
		    def->name, argv[argc - 1], def->name);
		code = SVC_EXIT_USAGE;
	} else if (print) {
		code = svc_conf_load(def, conf, app_conf);
	} else if (arg[0] == '\0' || check) {
		code = config_check(def, conf, app_conf);
	}
	if (code == -1 && print) {
		conf_print(common, svc_conf_opts(def, common), conf, &out);
		conf_print(def->opts, def->nopts, app_conf, &out);
	}
	if (code == -1 && arg[0] != '\0')
		code = 0;
	if (code == 0)
		printf("%.*s", STR_ARG(buf_str(&out)));
	buf_free(&out);
	return code;
}
