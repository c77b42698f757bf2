/*
 * commands: the commands of a service.
 */
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "svc/svc_internal.h"

#define TEXT_MAX (64 * 1024)

enum rc
svc_out(struct str bytes)
{
	/* Flushed, so that it is printed even if the next step crashes. */
	if (fwrite(bytes.p, 1, bytes.n, stdout) != bytes.n ||
	    fflush(stdout) != 0)
		return RC_DOWN;
	return RC_OK;
}

static int
command_health(const struct svc_run *r)
{
	const struct svc_conf *conf = r->conf;
	struct buf why = BUF_INIT(TEXT_MAX);
	enum rc rc = svc_probe(conf->admin_addr, &why);

	if (rc == RC_OK)
		svc_out(STR("ready\n"));
	else
		fprintf(stderr, "not ready: %.*s\n", STR_ARG(buf_str(&why)));
	buf_free(&why);
	if (rc == RC_INVALID)
		return SVC_EXIT_CONFIG;
	return rc == RC_OK ? 0 : 1;
}

/* Of every service; its conf is struct svc_conf. */
static const struct svc_command command_healthcheck = {
	.name = "healthcheck",
	.usage = "",
	.summary = "check whether the running service is ready",
	.help = "Requests /readyz at ADMIN_ADDR and prints one line.  For "
		"HEALTHCHECK in images\n"
		"and service_healthy in Compose.  The timeout is 2 s.\n\n"
		"Exit codes: 0 ready, 1 not ready, 64 arguments, 78 "
		"configuration.\n",
	.fn = command_health,
};

/* The i-th; NULL after the last. */
static const struct svc_command *
command_at(const struct svc_def *def, size_t i)
{
	if (i == 0)
		return &command_healthcheck;
	i--;
	if (svc_def_has_http(def) && i-- == 0)
		return &svc_token_command;
	return i < def->ncommands ? &def->commands[i] : NULL;
}

static const struct svc_command *
command_find(const struct svc_def *def, const char *name)
{
	const struct svc_command *c;
	size_t i;

	for (i = 0; (c = command_at(def, i)) != NULL; i++) {
		if (strcmp(c->name, name) == 0)
			break;
	}
	return c;
}

/* One line for each form that c has; the first begins with first. */
static void
command_usage(const struct svc_def *def, const struct svc_command *c,
    const char *first, struct buf *out)
{
	struct str rest = str_of(c->usage), form;

	do {
		form = str_split(&rest, '\n');
		buf_printf(out, "%-7s%s %s%s%.*s\n", first, def->name, c->name,
		    form.n > 0 ? " " : "", STR_ARG(form));
		first = "";
	} while (rest.p != NULL);
}

void
svc_commands_help(const struct svc_def *def, struct buf *out)
{
	const struct svc_command *c;
	size_t i;

	for (i = 0; (c = command_at(def, i)) != NULL; i++)
		command_usage(def, c, "", out);
	buf_puts(
	    out, "\nWithout a command or an option it runs as a service.\n\n");
	for (i = 0; (c = command_at(def, i)) != NULL; i++)
		buf_printf(out, "  %-14s  %s\n", c->name, c->summary);
}

static void
command_help(const struct svc_def *def, const struct svc_command *c)
{
	struct buf out = BUF_INIT(TEXT_MAX);

	buf_printf(&out, "%s %s - %s\n\n", def->name, c->name, c->summary);
	command_usage(def, c, "usage: ", &out);
	buf_printf(&out, "\n%s", c->help);
	svc_out(buf_str(&out));
	buf_free(&out);
}

/* Print the commands there are. */
static int
command_unknown(const struct svc_def *def, const char *name)
{
	const struct svc_command *c;
	struct buf names = BUF_INIT(TEXT_MAX);
	size_t i;

	for (i = 0; (c = command_at(def, i)) != NULL; i++)
		buf_printf(&names, "%s%s", i > 0 ? ", " : "", c->name);
	fprintf(stderr,
	    "%s: unknown command %s; commands: %.*s; see %s --help\n",
	    def->name, name, STR_ARG(buf_str(&names)), def->name);
	buf_free(&names);
	return SVC_EXIT_USAGE;
}

static bool
command_wants_help(const struct svc_run *r)
{
	int i;

	for (i = 1; i < r->argc; i++) {
		if (strcmp(r->argv[i], "--help") == 0)
			return true;
	}
	return false;
}

/* With its configuration. */
static int
command_run(const struct svc_def *def, const struct svc_command *c,
    struct svc_run *r, struct svc_conf *conf, void *app_conf)
{
	struct bus_opts bus;
	int code = svc_conf_load(def, conf, app_conf);

	if (code != -1)
		return code;
	bus = svc_bus_opts(def, conf);
	r->conf = c == &command_healthcheck ? (const void *)conf : app_conf;
	r->bus = def->no_bus ? NULL : &bus;
	return c->fn(r);
}

int
svc_command(const struct svc_def *def, int argc, char *argv[],
    struct svc_conf *conf, void *app_conf)
{
	const struct svc_command *c = command_find(def, argv[0]);
	struct svc_run r = { .service = def->name, .argc = argc, .argv = argv };
	int code;

	if (c == NULL)
		return command_unknown(def, argv[0]);
	r.arg = c->arg;
	log_init(def->name, LOG_WARN);
	if (c->alone) {
		code = c->fn(&r);
	} else if (command_wants_help(&r)) {
		command_help(def, c);
		code = 0;
	} else if (c->usage[0] == '\0' && r.argc > 1) {
		fprintf(stderr, "%s %s: it takes no arguments\n", def->name,
		    c->name);
		code = SVC_EXIT_USAGE;
	} else if (c == &svc_token_command) {
		code = c->fn(&r);
	} else {
		code = command_run(def, c, &r, conf, app_conf);
	}
	/* A reader must not mistake a part for the whole. */
	if (ferror(stdout) && code == 0) {
		fprintf(stderr, "%s %s: cannot write\n", def->name, c->name);
		code = 1;
	}
	return code;
}
