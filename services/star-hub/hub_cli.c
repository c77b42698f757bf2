/*
 * hub_cli: the commands ls, kick and tap: what the hubs have, an end to one of
 * their clients, and what passes in an environment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "cluster/link_record.h"
#include "core/arena.h"
#include "core/loop.h"
#include "core/mem.h"
#include "handlers.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 64, CLI_NO_NATS = 69 };

#define CONNECT_MS  5000
#define REPLY_MS    2000
#define MONITOR_MS  10000
#define REPLY_ARENA (8UL * 1024 * 1024)
#define ARGS_MAX    3
#define INBOX       256

struct cli {
	const struct svc_run *run;
	struct loop *loop;
	struct bus *bus;
	struct loop_timer timer;
	const char *tenant;
	const char *arg[ARGS_MAX];
	int nargs;
	const char *reason;
	bool payload;
	void (*begin)(struct cli *cli);
	const struct wire_desc *reply;
	void (*on_reply)(struct cli *cli, const void *msg);
	int code;
};

/* ---- arguments ---- */

/* False: they are wrong, as stderr says. */
static bool
cli_parse(struct cli *cli, int least, int most)
{
	const struct svc_run *r = cli->run;
	int i;

	for (i = 1; i < r->argc; i++) {
		if (strcmp(r->argv[i], "--payload") == 0)
			cli->payload = true;
		else if (strcmp(r->argv[i], "--tenant") == 0 && i + 1 < r->argc)
			cli->tenant = r->argv[++i];
		else if (strcmp(r->argv[i], "--reason") == 0 && i + 1 < r->argc)
			cli->reason = r->argv[++i];
		else if (r->argv[i][0] == '-' || cli->nargs == most)
			break;
		else
			cli->arg[cli->nargs++] = r->argv[i];
	}
	if (i == r->argc && cli->nargs >= least)
		return true;
	fprintf(stderr,
	    "star-hub %s: wrong arguments; see star-hub %s --help\n",
	    r->argv[0], r->argv[0]);
	return false;
}

static struct str
cli_text(const char *s)
{
	return s != NULL ? str_of(s) : (struct str){ NULL, 0 };
}

/* ---- one request ---- */

static void
cli_end(struct cli *cli, int code)
{
	cli->code = code;
	loop_stop(cli->loop);
}

static void
cli_on_reply(void *arg, enum rc rc, struct str data)
{
	struct cli *cli = arg;
	struct arena *a = arena_new(REPLY_ARENA);
	void *msg = arena_alloc(a, wire_desc_size(cli->reply));
	struct wire_err err;

	if (rc == RC_OK && wire_decode(cli->reply, data, a, msg, &err) != RC_OK)
		rc = RC_INVALID;
	if (rc == RC_OK)
		cli->on_reply(cli, msg);
	else if (rc == RC_NOENT && cli->reply == &wire_star_kick_reply_desc)
		fprintf(stderr, "star-hub: no client has this identity\n");
	else
		fprintf(stderr, "star-hub: %s%s\n", rc_name(rc),
		    rc == RC_NOENT ? ": is a star-hub running?" : "");
	arena_free(a);
	cli_end(cli, rc == RC_OK ? CLI_DONE : CLI_FAILED);
}

static void
cli_request(struct cli *cli, const char *subject, const struct wire_desc *d,
    const void *msg)
{
	const struct bus_meta meta = { .deadline = {
					   clock_wall().ms + REPLY_MS } };
	struct buf out = BUF_INIT(LINK_RECORD_MAX);
	struct wire_err err;
	enum rc rc = wire_encode(d, msg, &out, &err);

	if (rc == RC_OK)
		rc = bus_request(cli->bus, subject, buf_str(&out), &meta,
		    (struct bus_reply_handler){ cli_on_reply, cli, false },
		    NULL);
	buf_free(&out);
	if (rc != RC_OK) {
		fprintf(stderr, "star-hub: %s\n", rc_name(rc));
		cli_end(cli, CLI_FAILED);
	}
}

/* ---- connecting ---- */

static void
cli_on_state(void *arg, bool up)
{
	struct cli *cli = arg;

	if (!up)
		return;
	loop_timer_cancel(cli->loop, &cli->timer);
	cli->begin(cli);
}

static void
cli_on_timeout(void *arg)
{
	struct cli *cli = arg;

	fprintf(stderr, "star-hub: NATS cannot be reached: see NATS_URL\n");
	cli_end(cli, CLI_NO_NATS);
}

static int
cli_run(struct cli *cli)
{
	struct bus_opts o = *cli->run->bus;

	cli->loop = loop_new(INBOX);
	o.loop = cli->loop;
	o.on_state = cli_on_state;
	o.arg = cli;
	cli->code = CLI_FAILED;
	if (bus_new(&o, &cli->bus) == RC_OK) {
		loop_timer_set(cli->loop, &cli->timer,
		    mono_add_ms(clock_mono(), CONNECT_MS), cli_on_timeout, cli);
		loop_run(cli->loop);
	}
	bus_free(cli->bus);
	loop_free(cli->loop);
	return cli->code;
}

/* ---- ls ---- */

static void
ls_line(const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	svc_out(str_of(line));
}

static void
ls_on_list(struct cli *cli, const void *msg)
{
	const struct wire_star_environment_list *l = msg;
	size_t i;

	(void)cli;
	for (i = 0; i < l->n_items; i++)
		ls_line("%6lld  %.*s\n", (long long)l->items[i].members,
		    STR_ARG(l->items[i].env_id));
	ls_line("%s%lld environments, %lld agents, %lld humans, %lld hubs\n",
	    l->truncated ? "and more\n" : "", (long long)l->environments,
	    (long long)l->agents, (long long)l->humans, (long long)l->hubs);
}

static void
ls_on_members(struct cli *cli, const void *msg)
{
	const struct wire_star_member_list *l = msg;
	size_t i;

	(void)cli;
	for (i = 0; i < l->n_items; i++)
		ls_line("%-5s  %.*s  %.*s\n",
		    l->items[i].type == WIRE_STAR_MEMBER_LIST_ITEMS_TYPE_AGENT
			? "agent"
			: "human",
		    STR_ARG(l->items[i].hub), STR_ARG(l->items[i].id));
	ls_line("%s%zu members; the environment is %s\n",
	    l->truncated ? "and more\n" : "", l->n_items,
	    l->up ? "connected" : "not connected");
}

static void
ls_begin(struct cli *cli)
{
	const struct wire_star_list_request list = { cli_text(cli->tenant) };
	const struct wire_star_members_request members = {
		cli_text(cli->tenant), cli_text(cli->arg[0])
	};

	cli->reply = cli->nargs > 0 ? &wire_star_member_list_desc
				    : &wire_star_environment_list_desc;
	cli->on_reply = cli->nargs > 0 ? ls_on_members : ls_on_list;
	if (cli->nargs > 0)
		cli_request(cli, WIRE_SUBJECT_STAR_MEMBERS,
		    &wire_star_members_request_desc, &members);
	else
		cli_request(cli, WIRE_SUBJECT_STAR_LIST,
		    &wire_star_list_request_desc, &list);
}

static int
cli_ls(const struct svc_run *r)
{
	struct cli cli = { .run = r, .begin = ls_begin };

	return cli_parse(&cli, 0, 1) ? cli_run(&cli) : CLI_USAGE;
}

/* ---- kick ---- */

static void
kick_on_reply(struct cli *cli, const void *msg)
{
	const struct wire_star_kick_reply *rep = msg;

	(void)cli;
	ls_line("hub %.*s disconnects it\n", STR_ARG(rep->hub));
}

static void
kick_begin(struct cli *cli)
{
	static const struct {
		const char *name;
		enum wire_star_kick_request_type type;
	} rows[] = {
		{ "agent", WIRE_STAR_KICK_REQUEST_TYPE_AGENT },
		{ "environment", WIRE_STAR_KICK_REQUEST_TYPE_ENVIRONMENT },
		{ "human", WIRE_STAR_KICK_REQUEST_TYPE_HUMAN },
	};
	struct wire_star_kick_request req = { .tenant = cli_text(cli->tenant),
		.id = cli_text(cli->arg[1]),
		.env_id = cli_text(cli->arg[2]),
		.reason = cli_text(cli->reason) };
	size_t i;

	cli->reply = &wire_star_kick_reply_desc;
	cli->on_reply = kick_on_reply;
	for (i = 0; i < NELEM(rows); i++)
		if (strcmp(cli->arg[0], rows[i].name) == 0)
			break;
	if (i == NELEM(rows) || (i == 0) != (cli->arg[2] != NULL)) {
		fprintf(stderr,
		    "star-hub kick: give agent ID ENV, environment ID, or "
		    "human ID\n");
		cli_end(cli, CLI_USAGE);
		return;
	}
	req.type = rows[i].type;
	cli_request(
	    cli, WIRE_SUBJECT_STAR_KICK, &wire_star_kick_request_desc, &req);
}

static int
cli_kick(const struct svc_run *r)
{
	struct cli cli = { .run = r, .begin = kick_begin };

	return cli_parse(&cli, 2, 3) ? cli_run(&cli) : CLI_USAGE;
}

/* ---- tap ---- */

static void monitor_begin(struct cli *cli);

static void
monitor_on_report(void *arg, enum rc rc, struct str data)
{
	struct cli *cli = arg;
	char at[WALL_FORMAT_MAX];
	struct link_record r;
	struct identity from;

	if (rc == RC_TIMEOUT) {
		monitor_begin(cli);
		return;
	}
	if (rc != RC_OK) {
		fprintf(stderr, "star-hub: %s%s\n", rc_name(rc),
		    rc == RC_NOENT ? ": is a star-hub running?" : "");
		cli_end(cli, CLI_FAILED);
		return;
	}
	if (link_record_next(&data, &r) != RC_OK || r.kind != LINK_MONITOR ||
	    identity_parse(r.from, &from) != RC_OK)
		return;
	wall_format(clock_wall(), 0, at);
	ls_line("%s  %.*s %.*s  ->  %.*s  %lld bytes%s", at,
	    STR_ARG(client_class_names[from.class]), STR_ARG(from.id),
	    STR_ARG(r.text), (long long)r.n, cli->payload ? "  " : "\n");
	if (cli->payload) {
		svc_out(r.bytes);
		svc_out(STR("\n"));
	}
}

/* A request lasts for a while; then the next. */
static void
monitor_begin(struct cli *cli)
{
	const struct bus_meta meta = { .deadline = {
					   clock_wall().ms + MONITOR_MS } };
	struct buf out = BUF_INIT(LINK_RECORD_MAX);
	char text[IDENTITY_KEY_MAX];
	enum rc rc;

	link_record_write(&(struct link_record){ .kind = LINK_MONITOR,
			      .to = identity_env_key(cli_text(cli->tenant),
				  str_of(cli->arg[0]), text),
			      .n = cli->payload },
	    &out);
	rc = bus_request(cli->bus, WIRE_SUBJECT_STAR_MONITOR, buf_str(&out),
	    &meta, (struct bus_reply_handler){ monitor_on_report, cli, true },
	    NULL);
	buf_free(&out);
	if (rc != RC_OK) {
		fprintf(stderr, "star-hub: %s\n", rc_name(rc));
		cli_end(cli, CLI_FAILED);
	}
}

static int
cli_monitor(const struct svc_run *r)
{
	struct cli cli = { .run = r, .begin = monitor_begin };

	if (!cli_parse(&cli, 1, 1))
		return CLI_USAGE;
	if (identity_id_error(str_of(cli.arg[0])) != NULL) {
		fprintf(stderr, "star-hub tap: %s\n",
		    identity_id_error(str_of(cli.arg[0])));
		return CLI_USAGE;
	}
	return cli_run(&cli);
}

/* ---- the table ---- */

#define TENANT_HELP "  --tenant  of the clients; without it, of no tenant\n"

const struct svc_command hub_commands[HUB_COMMANDS_N] = {
	{ "ls", "[ENV] [--tenant T]",
	    "list environments, or the members of one",
	    "Of all hubs: the members of each environment, and their "
	    "number; of ENV: type, hub\nand id of each member.\n" TENANT_HELP
	    "Exit code: 0; 1 no hub has replied; 69 NATS cannot be reached.\n",
	    false, cli_ls, NULL },
	{ "kick",
	    "agent ID ENV [--tenant T] [--reason TEXT]\n"
	    "environment ID ...\nhuman ID ...",
	    "disconnect a client",
	    "At whichever hub it is: it is closed with 1008 and the reason. It "
	    "may connect\nagain.\n" TENANT_HELP
	    "Exit code: 0; 1 no client has this identity; 69 NATS cannot be "
	    "reached.\n",
	    false, cli_kick, NULL },
	{ "tap", "ENV [--tenant T] [--payload]",
	    "follow the messages of an environment",
	    "One line a message, from all hubs, at most 1000 a second of each: "
	    "time, sender,\nrecipient, size of its payload; with --payload, "
	    "its first 4096 bytes.\n" TENANT_HELP
	    "Exit code: 1 no hub has replied; 69 NATS cannot be reached.\n",
	    false, cli_monitor, NULL },
};
