/*
 * The arguments, and the help.
 */
#include "dead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "dead_work.h"

static int
refuse(const char *why, const char *what)
{
	fprintf(stderr,
	    "memory-worker dead: %s%s; see memory-worker dead --help\n", why,
	    what);
	return DEAD_USAGE;
}

/* What follows the verb; DEAD_DONE, or DEAD_USAGE after saying why. */
static int
arguments(struct dead_ask *d, int argc, char *const argv[])
{
	int i;

	for (i = 0; i < argc; i++) {
		const char *s = argv[i];

		if (d->verb == DEAD_LIST && strcmp(s, "--json") == 0)
			d->json = true;
		else if (d->verb == DEAD_SHOW && strcmp(s, "--raw") == 0)
			d->raw = true;
		else if (d->verb == DEAD_REPLAY && strcmp(s, "--all") == 0)
			d->walk = true;
		else if (d->verb == DEAD_LIST ||
		    str_to_i64(str_of(s), 1, INT64_MAX, &d->seqs[d->nseqs]) !=
			RC_OK)
			return refuse("what is this? ", s);
		else
			d->nseqs++;
	}
	if (d->verb == DEAD_LIST)
		d->walk = true;
	else if (d->walk && d->nseqs > 0)
		return refuse("either --all or numbers", "");
	else if (!d->walk && d->nseqs == 0)
		return refuse("which? The list has their numbers", "");
	else if (d->verb == DEAD_SHOW && d->nseqs > 1)
		return refuse("one at a time", "");
	return DEAD_DONE;
}

static void
sum(const struct dead_ask *d, enum dead_exit code, size_t done)
{
	char line[64];

	if (!d->walk || d->json)
		return;
	if (done > 0 && d->verb == DEAD_LIST) {
		snprintf(line, sizeof(line), "%zu put aside\n", done);
		svc_out(str_of(line));
	} else if (done == 0 && code == DEAD_DONE) {
		svc_out(STR("nothing is put aside\n"));
	}
}

static int
dead(const struct svc_run *r)
{
	static const char *const verbs[] = { [DEAD_LIST] = "list",
		[DEAD_SHOW] = "show",
		[DEAD_REPLAY] = "replay",
		[DEAD_DROP] = "drop" };
	struct dead_ask d = { 0 };
	size_t v = 0, done;
	int code;

	while (r->argc > 1 && v < NELEM(verbs) &&
	    strcmp(r->argv[1], verbs[v]) != 0)
		v++;
	if (r->argc < 2 || v == NELEM(verbs))
		return refuse("say list, show, replay or drop", "");
	d.verb = (enum dead_verb)v;
	d.seqs = mem_calloc((size_t)r->argc, sizeof(*d.seqs));
	code = arguments(&d, r->argc - 2, r->argv + 2);
	if (code == DEAD_DONE) {
		code = dead_work(r->bus, &d, &done);
		sum(&d, code, done);
	}
	free(d.seqs);
	return code;
}

const struct svc_command dead_command = {
	.name = "dead",
	.usage = "list [--json]\nshow SEQ [--raw]\nreplay SEQ... | --all\n"
		 "drop SEQ...",
	.summary = "jobs that were put aside: look at them, try them anew",
	.help =
	    "  list    all of them, oldest first: number, when, job, user and "
	    "soul, how often\n"
	    "          it was tried and why it was put aside, how its text "
	    "begins;\n"
	    "          --json: an object a line, with the whole text\n"
	    "  show    one with all there is of it; --raw: its bytes only\n"
	    "  replay  back among the jobs, and away from here once they have "
	    "it\n"
	    "  drop    away for good\n"
	    "\n"
	    "To replay a job twice has one effect, as its memory has the "
	    "job's id.  A job\n"
	    "that is broken in itself, or fails again, is put aside again "
	    "under a new number;\n"
	    "--all is all that were there when it began.  What was put "
	    "aside is kept 30 days.\n\n"
	    "Needs NATS_URL, NATS_USER and NATS_PASSWORD of the "
	    "configuration only, and no\n"
	    "memory-worker to run, but one has to for a replayed job to be "
	    "done.\n\n"
	    "Exit codes: 0 all was done, 1 something was not (stderr says "
	    "what and why), 64\n"
	    "arguments, 69 no NATS, 78 configuration.\n",
	.fn = dead,
};
